#!/usr/bin/env python3
"""The checks of scripts/test-llm-servers: PROGRAM SERVER WORK JOB."""
import http.server
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

program, server, work, job = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3]), sys.argv[4]
KEY = "sk-local-0123456789abcdef0123456789abcdef"
os.environ["LITELLM_MASTER_KEY"] = KEY
STEPS = {
    "think1": {"problem_type": "data_skew", "also": [], "findings": ["F1"], "evidence": ["E1"], "experiences": [], "text": "The join is skewed [F1]."},
    "think2": {"modules": [], "experiences": [], "text": "The join matters."},
    "think3": {"causes": [], "text": "One key has too many rows [E1]."},
    "think4": {"needs_files": False, "files": [], "lookups": [], "missing": [], "experiences": [], "basis": "The facts suffice [E1]."},
    "think5": {"recommendations": [], "additional": [], "text": "Split the hot key off [F1].", "answer": {"text": "The join is skewed [F1].", "evidence": []}},
}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Backend(http.server.BaseHTTPRequestHandler):
    """A model behind the proxy: it concludes every step, reads a file by tool first, and records what it was asked."""

    protocol_version = "HTTP/1.1"
    asked = []
    delay = 0.0
    hung_up = 0

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.reply(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Backend.asked.append(body)
        try:
            time.sleep(Backend.delay)
            message = self.message(body)
            if body.get("stream"):
                self.stream(message)
            else:
                self.reply(200, self.whole("chat.completion", {"message": message}, message))
        except (BrokenPipeError, ConnectionResetError):
            Backend.hung_up += 1

    def message(self, body):
        messages = body["messages"]
        prompt = "\n".join(m["content"] for m in messages if isinstance(m.get("content"), str))
        step = max(STEPS, key=lambda s: prompt.rfind(f"[THINK {s[-1]}] "))
        if body.get("tools"):
            results = [m for m in messages if m["role"] == "tool"]
            name, arguments = ("read_files", {"files": [{"file": "profile", "part": "SV3", "reason": "to see its vertices"}]})
            if results:
                name, arguments = ("submit_check", {"sufficient": True, "missing": [], "experiences": [], "basis": "The facts suffice [E1]."})
            call = {"id": f"call_{len(results)}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        return {"role": "assistant", "content": json.dumps(STEPS[step])}

    def whole(self, kind, choice, message):
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        return {"id": "1", "object": kind, "created": 1, "model": "scripted", "choices": [{"index": 0, "finish_reason": reason, **choice}], "usage": usage}

    def stream(self, message):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        deltas = [{"role": "assistant", "content": ""}]
        if message.get("tool_calls"):
            deltas += [{"tool_calls": [{"index": 0, **message["tool_calls"][0]}]}]
        else:
            text = message["content"]
            deltas += [{"content": text[at : at + 7]} for at in range(0, len(text), 7)]
        for delta in deltas:
            chunk = self.whole("chat.completion.chunk", {"delta": delta}, message)
            chunk["choices"][0]["finish_reason"] = None
            del chunk["usage"]
            self.event(json.dumps(chunk))
        last = self.whole("chat.completion.chunk", {"delta": {}}, message)
        self.event(json.dumps(last))
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def event(self, data):
        data = f"data: {data}\n\n".encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def started(command, url, seconds):
    """Starts a server and waits until it answers."""
    log = open(f"{work}/{server}.log", "w")
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    until = time.time() + seconds
    while time.time() < until:
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(urllib.request.Request(url, headers={"Authorization": f"Bearer {KEY}"}), timeout=5)
            return process
        except OSError:
            time.sleep(1)
    process.kill()
    sys.exit(f"{server} does not start:\n" + open(log.name).read()[-3000:])


def analyze(profile, *further, interrupt_after=None):
    """Runs an analysis; returns its exit status, its report if there is one, and what it printed."""
    config = f"{work}/config/scopeagent"
    os.makedirs(config, exist_ok=True)
    with open(f"{config}/config.toml", "w") as file:
        file.write('[llm]\ndefault = "local"\n[llm.profiles.local]\n' + "".join(f"{k} = {json.dumps(v)}\n" for k, v in profile.items()))
    environment = {**os.environ, "XDG_CONFIG_HOME": f"{work}/config", "XDG_DATA_HOME": f"{work}/data", "SCOPEAGENT_INDEX": f"{work}/index"}
    command = [program, "analyze", job, "--no-store", "--format", "json", "--question", "Why is it slow?", *further]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if interrupt_after is not None:
        time.sleep(interrupt_after)
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    return process.returncode, json.loads(out) if out.strip() else None, err


def check(what, holds, seen):
    print(f"{server}: {'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        sys.exit(f"seen: {str(seen)[:3000]}")


def by_model(report):
    return report is not None and report["engine"]["reasoner"] == "llm" and not report["engine"].get("fallback")


def litellm(port):
    backend_port = free_port()
    backend = http.server.ThreadingHTTPServer(("127.0.0.1", backend_port), Backend)
    backend.handle_error = lambda *_: None  # a client that hangs up is expected
    threading.Thread(target=backend.serve_forever, daemon=True).start()
    config = f"{work}/litellm.yaml"
    with open(config, "w") as file:
        json.dump({"model_list": [{"model_name": "scripted", "litellm_params": {"model": "openai/scripted", "api_base": f"http://127.0.0.1:{backend_port}/v1", "api_key": "none"}}]}, file)
    command = [f"{os.path.dirname(sys.executable)}/litellm", "--config", config, "--host", "127.0.0.1", "--port", str(port)]
    process = started(command, f"http://127.0.0.1:{port}/v1/models", 600)
    profile = {"provider": "compatible", "base_url": f"http://127.0.0.1:{port}/v1", "model": "scripted", "api_key_env": "LITELLM_MASTER_KEY", "structured_output": "schema"}
    try:
        status, report, err = analyze(profile)
        check("an analysis by the model", status == 0 and by_model(report), (status, err, report and report["engine"]))
        asked = Backend.asked
        check("answers are streamed", all(b.get("stream") for b in asked), [b.get("stream") for b in asked])
        schemas = [b for b in asked if (b.get("response_format") or {}).get("type") == "json_schema"]
        check("the JSON schema arrives", len(schemas) >= 4, [b.get("response_format") for b in asked])
        results = [m["content"] for b in asked for m in b["messages"] if m["role"] == "tool"]
        check("tools are offered, called, and answered with a digest", any("profile (SV3)" in r and " completed, " in r for r in results), results)
        check("tokens are counted", report["usage"]["calls"] == len(asked) and report["usage"]["tokens_in"] >= 100 * len(asked), report["usage"])
        Backend.asked.clear()
        Backend.delay = 30.0
        began = time.time()
        status, report, err = analyze(profile, interrupt_after=4)
        check("an interrupted analysis ends at once with a partial report", time.time() - began < 20 and report is not None and report["partial"], (status, err))
        began = time.time()
        status, report, err = analyze({**profile, "read_timeout_seconds": 2, "timeout_seconds": 3, "retries": 0})
        check("a silent server is given up, and the analysis is finished without it", time.time() - began < 25 and report is not None and report["engine"].get("fallback"), (status, err, report and report["engine"]))
        Backend.delay = 0.0
        status, report, err = analyze({**profile, "model": "unknown"})
        check("an unknown model is named in the reason", report is not None and "unknown" in (report["engine"].get("fallback") or ""), (status, err, report and report["engine"]))
    finally:
        process.terminate()
        process.wait()


def llamacpp(port):
    model = os.environ["TINY_GGUF"]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", model, "--host", "127.0.0.1", "--port", str(port), "--n_ctx", "8192", "--n_threads", "1"]
    process = started(command, f"http://127.0.0.1:{port}/v1/models", 120)
    profile = {"provider": "compatible", "base_url": f"http://127.0.0.1:{port}/v1", "model": os.path.basename(model), "context_tokens": 8192, "max_output_tokens": 400, "structured_output": "schema", "read_timeout_seconds": 120, "timeout_seconds": 240, "retries": 0}
    try:
        began = time.time()
        status, report, err = analyze(profile, "--depth", "quick")
        check("an analysis ends with a report, by the model or with the reason why not", report is not None, (status, err))
        print(f"llamacpp: {report['engine']} after {time.time() - began:.0f} s", flush=True)
        log = open(f"{work}/{server}.log").read()
        check("the server was asked", re.search(r"POST /v1/chat/completions", log), log)
        began = time.time()
        status, report, err = analyze(profile, interrupt_after=3)
        check("an interrupted analysis ends at once", time.time() - began < 20, (status, err))
        began = time.time()
        status, report, err = analyze({**profile, "read_timeout_seconds": 1, "timeout_seconds": 1})
        check("a slow server is given up, and the analysis is finished without it", time.time() - began < 60 and report is not None, (status, err))
    finally:
        process.terminate()
        process.wait()


{"litellm": litellm, "llamacpp": llamacpp}[server](free_port())
