using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class StoryClicksFolder : Reducer
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("ReaderId:long, FirstSeen:DateTime, Steps:int, Section:string, Score:double");
    }

    public override IEnumerable<Row> Reduce(RowSet input, Row outputRow, string[] args)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        long? readerId = default(long?);
        DateTime eventTime = default(DateTime);
        string section = default(string);
        string surface = default(string);
        int readMs = default(int);
        foreach (Row row in input.Rows)
        {
            readerId = row["ReaderId"].Long;
            total += Convert.ToInt64(readerId);
            eventTime = row["EventTime"].DateTime;
            if (eventTime > newest) { newest = eventTime; }
            section = row["Section"].String;
            if (!string.IsNullOrEmpty(section)) { last = section; }
            surface = row["Surface"].String;
            if (!string.IsNullOrEmpty(surface)) { last = surface; }
            readMs = row["ReadMs"].Integer;
            total += Convert.ToInt64(readMs);
            seen++;
        }
        outputRow["ReaderId"].Set(readerId);
        outputRow["FirstSeen"].Set(newest);
        outputRow["Steps"].Set(seen);
        outputRow["Section"].Set(section);
        outputRow["Score"].Set((double)total / Math.Max(1, seen));
        yield return outputRow;
    }
}

public class ___Scope_Generated_Classes___
{
}
