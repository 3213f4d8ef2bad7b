using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class VoiceUsageFolder : Reducer
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("SpeakerId:long, FirstSeen:DateTime, Steps:int, Skill:string, Score:double");
    }

    public override IEnumerable<Row> Reduce(RowSet input, Row outputRow, string[] args)
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
        foreach (Row row in input.Rows)
        {
            speakerId = row["SpeakerId"].Long;
            total += Convert.ToInt64(speakerId);
            eventTime = row["EventTime"].DateTime;
            if (eventTime > newest) { newest = eventTime; }
            skill = row["Skill"].String;
            if (!string.IsNullOrEmpty(skill)) { last = skill; }
            firmware = row["Firmware"].String;
            if (!string.IsNullOrEmpty(firmware)) { last = firmware; }
            latencyMs = row["LatencyMs"].Integer;
            total += Convert.ToInt64(latencyMs);
            seen++;
        }
        outputRow["SpeakerId"].Set(speakerId);
        outputRow["FirstSeen"].Set(newest);
        outputRow["Steps"].Set(seen);
        outputRow["Skill"].Set(skill);
        outputRow["Score"].Set((double)total / Math.Max(1, seen));
        yield return outputRow;
    }
}

public class ___Scope_Generated_Classes___
{
}
