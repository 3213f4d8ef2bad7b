using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class RouteQualityPath : Reducer
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("TripId:long, FirstSeen:DateTime, Steps:int, Region:string, Score:double");
    }

    public override IEnumerable<Row> Reduce(RowSet input, Row outputRow, string[] args)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        foreach (Row row in input.Rows)
        {
            var tripId = row["TripId"].Long;
            total += Convert.ToInt64(tripId);
            var region = row["Region"].String;
            if (!string.IsNullOrEmpty(region)) { last = region; }
            var eventTime = row["EventTime"].DateTime;
            if (eventTime > newest) { newest = eventTime; }
            var delaySec = row["DelaySec"].Integer;
            total += Convert.ToInt64(delaySec);
            var homeCountry = row["HomeCountry"].String;
            if (!string.IsNullOrEmpty(homeCountry)) { last = homeCountry; }
            seen++;
        }
        outputRow["TripId"].Set(total);
        outputRow["FirstSeen"].Set(newest);
        outputRow["Steps"].Set(seen);
        outputRow["Region"].Set(last);
        outputRow["Score"].Set((double)total / Math.Max(1, seen));
        yield return outputRow;
    }
}

public class ___Scope_Generated_Classes___
{
}
