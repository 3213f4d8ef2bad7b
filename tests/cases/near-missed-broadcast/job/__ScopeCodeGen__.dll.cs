using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class VoiceUsagePath : Reducer
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
        string skill = default(string);
        string firmware = default(string);
        DateTime eventTime = default(DateTime);
        int latencyMs = default(int);
        string homeCountry = default(string);
        foreach (Row row in input.Rows)
        {
            speakerId = row["SpeakerId"].Long;
            total += Convert.ToInt64(speakerId);
            skill = row["Skill"].String;
            if (!string.IsNullOrEmpty(skill)) { last = skill; }
            firmware = row["Firmware"].String;
            if (!string.IsNullOrEmpty(firmware)) { last = firmware; }
            eventTime = row["EventTime"].DateTime;
            if (eventTime > newest) { newest = eventTime; }
            latencyMs = row["LatencyMs"].Integer;
            total += Convert.ToInt64(latencyMs);
            homeCountry = row["HomeCountry"].String;
            if (!string.IsNullOrEmpty(homeCountry)) { last = homeCountry; }
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
