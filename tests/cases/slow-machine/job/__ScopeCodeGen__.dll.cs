using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class SpamSignalsScorer : Processor
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("SenderId:long, Folder:string, TextLen:int, Score:double");
    }

    public override IEnumerable<Row> Process(RowSet input, Row outputRow, string[] args)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        long? senderId = default(long?);
        string folder = default(string);
        int scoreMilli = default(int);
        string headerText = default(string);
        foreach (Row row in input.Rows)
        {
            senderId = row["SenderId"].Long;
            total += Convert.ToInt64(senderId);
            folder = row["Folder"].String;
            if (!string.IsNullOrEmpty(folder)) { last = folder; }
            scoreMilli = row["ScoreMilli"].Integer;
            total += Convert.ToInt64(scoreMilli);
            headerText = row["HeaderText"].String;
            if (!string.IsNullOrEmpty(headerText)) { last = headerText; }
            seen++;
            outputRow["SenderId"].Set(senderId);
            outputRow["Folder"].Set(folder);
            outputRow["TextLen"].Set(seen);
            outputRow["Score"].Set((double)total / Math.Max(1, seen));
            yield return outputRow;
        }
    }
}

public class ___Scope_Generated_Classes___
{
}
