using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

[SqlUserDefinedReducer]
public class VoiceUsageFolder : IReducer
{
    public override IEnumerable<IRow> Reduce(IRowset input, IUpdatableRow output)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        long? speakerId = default(long?);
        DateTime eventTime = default(DateTime);
        string skill = default(string);
        string firmware = default(string);
        int latencyMs = default(int);
        foreach (IRow row in input.Rows)
        {
            speakerId = row.Get<long?>("SpeakerId");
            total += Convert.ToInt64(speakerId);
            eventTime = row.Get<DateTime>("EventTime");
            if (eventTime > newest) { newest = eventTime; }
            skill = row.Get<string>("Skill");
            if (!string.IsNullOrEmpty(skill)) { last = skill; }
            firmware = row.Get<string>("Firmware");
            if (!string.IsNullOrEmpty(firmware)) { last = firmware; }
            latencyMs = row.Get<int>("LatencyMs");
            total += Convert.ToInt64(latencyMs);
            seen++;
        }
        output.Set<long>("SpeakerId", speakerId);
        output.Set<DateTime>("FirstSeen", newest);
        output.Set<int>("Steps", seen);
        output.Set<string>("Skill", skill);
        output.Set<double>("Score", (double)total / Math.Max(1, seen));
        yield return output.AsReadOnly();
    }
}

public class ___Scope_Generated_Classes___
{
}
