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
        long? tripId = default(long?);
        string region = default(string);
        string vehicleClass = default(string);
        DateTime eventTime = default(DateTime);
        int delaySec = default(int);
        string homeCountry = default(string);
        foreach (Row row in input.Rows)
        {
            tripId = row["TripId"].Long;
            total += Convert.ToInt64(tripId);
            region = row["Region"].String;
            if (!string.IsNullOrEmpty(region)) { last = region; }
            vehicleClass = row["VehicleClass"].String;
            if (!string.IsNullOrEmpty(vehicleClass)) { last = vehicleClass; }
            eventTime = row["EventTime"].DateTime;
            if (eventTime > newest) { newest = eventTime; }
            delaySec = row["DelaySec"].Integer;
            total += Convert.ToInt64(delaySec);
            homeCountry = row["HomeCountry"].String;
            if (!string.IsNullOrEmpty(homeCountry)) { last = homeCountry; }
            seen++;
        }
        outputRow["TripId"].Set(tripId);
        outputRow["FirstSeen"].Set(newest);
        outputRow["Steps"].Set(seen);
        outputRow["Region"].Set(region);
        outputRow["Score"].Set((double)total / Math.Max(1, seen));
        yield return outputRow;
    }
}

public static class TextUtil
{
    public static string Short(string text)
    {
        return text == null || text.Length < 12 ? text : text.Substring(0, 12);
    }
}

public class ___Scope_Generated_Classes___
{
}
