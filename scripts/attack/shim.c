/* Preloaded into the program. Counts its writes below ATTACK_UNDER (writes, truncations, renames, links, removals, syncs), and at the one with
 * the number ATTACK_KILL_AT does half of it, reports it to ATTACK_LOG and kills the process with signal 9, inside the call. With ATTACK_JUMP,
 * the wall clock jumps by so many seconds from the reading with the number ATTACK_JUMP_AT on; with ATTACK_JUMP_EVERY, back and forth. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long writes, readings;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static int is_under(const char *path) {
    const char *under = getenv("ATTACK_UNDER");
    return under && *under && strncmp(path, under, strlen(under)) == 0;
}

static void path_of(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    path[length < 0 ? 0 : length] = 0;
}

static void report(const char *what, const char *path, long at) {
    const char *log = getenv("ATTACK_LOG");
    if (!log) return;
    char line[5000];
    int length = snprintf(line, sizeof line, "%s %ld %s\n", what, at, path);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    ssize_t (*plain)(int, const void *, size_t) = next("write");
    if (fd >= 0) { if (plain(fd, line, length) < 0) {} close(fd); }
}

/* Whether this write is the last one; the count goes to the log at the end of the process. */
static int is_last(const char *path) {
    if (!is_under(path)) return 0;
    return atomic_fetch_add(&writes, 1) + 1 == number("ATTACK_KILL_AT", -1);
}

static void die(const char *what, const char *path) {
    report(what, path, writes);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

__attribute__((destructor)) static void end(void) {
    if (getenv("ATTACK_UNDER")) report("writes", "-", writes);
}

#define WRITE(result, name, parameters, half, arguments)                      \
    result name parameters {                                                  \
        static result (*plain) parameters;                                    \
        if (!plain) plain = next(#name);                                      \
        char path[4096];                                                      \
        path_of(fd, path, sizeof path);                                       \
        if (is_last(path)) { size_t all = size; (void)all; half; die(#name, path); } \
        return plain arguments;                                               \
    }

WRITE(ssize_t, write, (int fd, const void *data, size_t size), if (plain(fd, data, size / 2) < 0) {}, (fd, data, size))
WRITE(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), if (plain(fd, data, size / 2, at) < 0) {}, (fd, data, size, at))
WRITE(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), if (plain(fd, data, size / 2, at) < 0) {}, (fd, data, size, at))
WRITE(ssize_t, writev, (int fd, const struct iovec *parts, int size), if (plain(fd, parts, size / 2) < 0) {}, (fd, parts, size))

#define CHANGE_OF_FD(name, parameters, arguments)                             \
    int name parameters {                                                     \
        static int (*plain) parameters;                                       \
        if (!plain) plain = next(#name);                                      \
        char path[4096];                                                      \
        path_of(fd, path, sizeof path);                                       \
        if (is_last(path)) die(#name, path);                                  \
        return plain arguments;                                               \
    }
CHANGE_OF_FD(fsync, (int fd), (fd))
CHANGE_OF_FD(fdatasync, (int fd), (fd))
CHANGE_OF_FD(ftruncate, (int fd, off_t size), (fd, size))
CHANGE_OF_FD(ftruncate64, (int fd, off64_t size), (fd, size))

#define CHANGE(name, parameters, arguments, path)                             \
    int name parameters {                                                     \
        static int (*plain) parameters;                                       \
        if (!plain) plain = next(#name);                                      \
        if (is_last(path)) die(#name, path);                                  \
        return plain arguments;                                               \
    }
CHANGE(rename, (const char *from, const char *to), (from, to), to)
CHANGE(renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), to)
CHANGE(renameat2, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags), to)
CHANGE(link, (const char *from, const char *to), (from, to), to)
CHANGE(linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), to)
CHANGE(unlink, (const char *path), (path), path)
CHANGE(unlinkat, (int fd, const char *path, int flags), (fd, path, flags), path)
CHANGE(mkdir, (const char *path, mode_t mode), (path, mode), path)

static long jump(void) {
    long seconds = number("ATTACK_JUMP", 0);
    if (!seconds) return 0;
    long reading = atomic_fetch_add(&readings, 1), every = number("ATTACK_JUMP_EVERY", 0);
    if (every) return reading / every % 2 ? seconds : 0;
    return reading >= number("ATTACK_JUMP_AT", 0) ? seconds : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*plain)(clockid_t, struct timespec *);
    if (!plain) plain = next("clock_gettime");
    int status = plain(clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec += jump();
    return status;
}

time_t time(time_t *where) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (where) *where = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *where, void *zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    where->tv_sec = now.tv_sec;
    where->tv_usec = now.tv_nsec / 1000;
    return 0;
}
