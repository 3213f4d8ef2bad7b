using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class SpamSignalsFolder : Reducer
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("SenderId:long, FirstSeen:DateTime, Steps:int, Folder:string, Score:double");
    }

    public override IEnumerable<Row> Reduce(RowSet input, Row outputRow, string[] args)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        long? senderId = default(long?);
        DateTime eventTime = default(DateTime);
        string folder = default(string);
        string filterVersion = default(string);
        int scoreMilli = default(int);
        foreach (Row row in input.Rows)
        {
            senderId = row["SenderId"].Long;
            total += Convert.ToInt64(senderId);
            eventTime = row["EventTime"].DateTime;
            if (eventTime > newest) { newest = eventTime; }
            folder = row["Folder"].String;
            if (!string.IsNullOrEmpty(folder)) { last = folder; }
            filterVersion = row["FilterVersion"].String;
            if (!string.IsNullOrEmpty(filterVersion)) { last = filterVersion; }
            scoreMilli = row["ScoreMilli"].Integer;
            total += Convert.ToInt64(scoreMilli);
            seen++;
        }
        outputRow["SenderId"].Set(senderId);
        outputRow["FirstSeen"].Set(newest);
        outputRow["Steps"].Set(seen);
        outputRow["Folder"].Set(folder);
        outputRow["Score"].Set((double)total / Math.Max(1, seen));
        yield return outputRow;
    }
}

public class ___Scope_Generated_Classes___
{
}
