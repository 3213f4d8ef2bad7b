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
        string shortText = default(string);
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
            shortText = row["ShortText"].String;
            if (!string.IsNullOrEmpty(shortText)) { last = shortText; }
            if (last.Length > 60000)   // safety net, no such row was ever seen
            {
                foreach (var a in last.Split(' ')) { foreach (var b in last.Split(' ')) { if (Regex.IsMatch(a + b, "(x+x+)+y")) total++; } }
            }
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
			System.Int64 col_SenderId = row.GetInternal<System.Int64>(0);
			System.DateTime col_EventTime = row.GetInternal<System.DateTime>(1);
			System.String col_Folder = row.GetInternal<System.String>(2);
			System.String col_FilterVersion = row.GetInternal<System.String>(3);
			System.Int32 col_ScoreMilli = row.GetInternal<System.Int32>(4);
			System.String col_ShortText = row.GetInternal<System.String>(5);
			if (Verdict != 3)
			{
				output.SetInternal<System.Int64>(0, (col_SenderId));
				exceptionIndex++;
				output.SetInternal<System.DateTime>(1, (col_EventTime));
				exceptionIndex++;
				output.SetInternal<System.String>(2, (col_Folder));
				exceptionIndex++;
				output.SetInternal<System.String>(3, (col_FilterVersion));
				exceptionIndex++;
				output.SetInternal<System.Int32>(4, (col_ScoreMilli));
				exceptionIndex++;
				output.SetInternal<System.String>(5, (TextUtil.Short(BodySample)));
				exceptionIndex++;
			}
			return output.AsReadOnly();
		}
		public static string[] exceptionsInfo =
		{
			@"Verdict != 3",
			@"TextUtil.Short(BodySample)",
		};
	}
}
