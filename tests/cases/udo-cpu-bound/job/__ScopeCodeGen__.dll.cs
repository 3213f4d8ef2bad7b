using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class RouteQualityFolder : Reducer
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
        DateTime eventTime = default(DateTime);
        string region = default(string);
        string vehicleClass = default(string);
        int delaySec = default(int);
        string shortText = default(string);
        foreach (Row row in input.Rows)
        {
            tripId = row["TripId"].Long;
            total += Convert.ToInt64(tripId);
            eventTime = row["EventTime"].DateTime;
            if (eventTime > newest) { newest = eventTime; }
            region = row["Region"].String;
            if (!string.IsNullOrEmpty(region)) { last = region; }
            vehicleClass = row["VehicleClass"].String;
            if (!string.IsNullOrEmpty(vehicleClass)) { last = vehicleClass; }
            delaySec = row["DelaySec"].Integer;
            total += Convert.ToInt64(delaySec);
            shortText = row["ShortText"].String;
            if (!string.IsNullOrEmpty(shortText)) { last = shortText; }
            for (int i = 0; i < 400; i++)
            {
                total = (total * 31 + last.Split('-').Length + Regex.Matches(last, "[a-z]+").Count) % 1000003;
            }
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
	public class SqlFilterTransformer_3 : IProcessor
	{
		public override IRow Process(IRow inRow, IUpdatableRow outRow)
		{
			int exceptionIndex = 0;
			System.Int64 col_TripId = row.GetInternal<System.Int64>(0);
			System.DateTime col_EventTime = row.GetInternal<System.DateTime>(1);
			System.String col_Region = row.GetInternal<System.String>(2);
			System.String col_VehicleClass = row.GetInternal<System.String>(3);
			System.Int32 col_DelaySec = row.GetInternal<System.Int32>(4);
			System.String col_ShortText = row.GetInternal<System.String>(5);
			if (GpsState != 3)
			{
				output.SetInternal<System.Int64>(0, (col_TripId));
				exceptionIndex++;
				output.SetInternal<System.DateTime>(1, (col_EventTime));
				exceptionIndex++;
				output.SetInternal<System.String>(2, (col_Region));
				exceptionIndex++;
				output.SetInternal<System.String>(3, (col_VehicleClass));
				exceptionIndex++;
				output.SetInternal<System.Int32>(4, (col_DelaySec));
				exceptionIndex++;
				output.SetInternal<System.String>(5, (TextUtil.Short(RawTrace)));
				exceptionIndex++;
			}
			return output.AsReadOnly();
		}
		public static string[] exceptionsInfo =
		{
			@"GpsState != 3",
			@"TextUtil.Short(RawTrace)",
		};
	}
}
