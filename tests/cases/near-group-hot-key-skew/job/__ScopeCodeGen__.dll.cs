using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class RouteQualityScorer : Processor
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("TripId:long, Region:string, TextLen:int, Score:double");
    }

    public override IEnumerable<Row> Process(RowSet input, Row outputRow, string[] args)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        long? tripId = default(long?);
        string region = default(string);
        int delaySec = default(int);
        string sensorBlob = default(string);
        string shortText = default(string);
        foreach (Row row in input.Rows)
        {
            tripId = row["TripId"].Long;
            total += Convert.ToInt64(tripId);
            region = row["Region"].String;
            if (!string.IsNullOrEmpty(region)) { last = region; }
            delaySec = row["DelaySec"].Integer;
            total += Convert.ToInt64(delaySec);
            sensorBlob = row["SensorBlob"].String;
            if (!string.IsNullOrEmpty(sensorBlob)) { last = sensorBlob; }
            shortText = row["ShortText"].String;
            if (!string.IsNullOrEmpty(shortText)) { last = shortText; }
            seen++;
            outputRow["TripId"].Set(tripId);
            outputRow["Region"].Set(region);
            outputRow["TextLen"].Set(seen);
            outputRow["Score"].Set((double)total / Math.Max(1, seen));
            yield return outputRow;
        }
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
			System.String col_Region = row.GetInternal<System.String>(1);
			System.Int32 col_DelaySec = row.GetInternal<System.Int32>(2);
			System.String col_SensorBlob = row.GetInternal<System.String>(3);
			System.String col_ShortText = row.GetInternal<System.String>(4);
			if (GpsState != 5)
			{
				output.SetInternal<System.Int64>(0, (col_TripId));
				exceptionIndex++;
				output.SetInternal<System.String>(1, (col_Region));
				exceptionIndex++;
				output.SetInternal<System.Int32>(2, (col_DelaySec));
				exceptionIndex++;
				output.SetInternal<System.String>(3, (col_SensorBlob));
				exceptionIndex++;
				output.SetInternal<System.String>(4, (TextUtil.Short(RawTrace)));
				exceptionIndex++;
			}
			return output.AsReadOnly();
		}
		public static string[] exceptionsInfo =
		{
			@"GpsState != 5",
			@"TextUtil.Short(RawTrace)",
		};
	}
}
