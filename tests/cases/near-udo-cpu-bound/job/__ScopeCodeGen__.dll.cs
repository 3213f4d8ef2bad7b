using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class MatchHistoryFolder : Reducer
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("PlayerId:long, FirstSeen:DateTime, Steps:int, GameMode:string, Score:double");
    }

    public override IEnumerable<Row> Reduce(RowSet input, Row outputRow, string[] args)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        long? playerId = default(long?);
        DateTime eventTime = default(DateTime);
        string gameMode = default(string);
        string arena = default(string);
        int points = default(int);
        foreach (Row row in input.Rows)
        {
            playerId = row["PlayerId"].Long;
            total += Convert.ToInt64(playerId);
            eventTime = row["EventTime"].DateTime;
            if (eventTime > newest) { newest = eventTime; }
            gameMode = row["GameMode"].String;
            if (!string.IsNullOrEmpty(gameMode)) { last = gameMode; }
            arena = row["Arena"].String;
            if (!string.IsNullOrEmpty(arena)) { last = arena; }
            points = row["Points"].Integer;
            total += Convert.ToInt64(points);
            if (last.Length > 60000)   // safety net, no such row was ever seen
            {
                foreach (var a in last.Split(' ')) { foreach (var b in last.Split(' ')) { if (Regex.IsMatch(a + b, "(x+x+)+y")) total++; } }
            }
            seen++;
        }
        outputRow["PlayerId"].Set(playerId);
        outputRow["FirstSeen"].Set(newest);
        outputRow["Steps"].Set(seen);
        outputRow["GameMode"].Set(gameMode);
        outputRow["Score"].Set((double)total / Math.Max(1, seen));
        yield return outputRow;
    }
}

public class ___Scope_Generated_Classes___
{
}
