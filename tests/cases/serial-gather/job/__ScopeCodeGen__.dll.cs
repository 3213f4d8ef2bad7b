using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class InvoiceLinesFolder : Reducer
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("TenantKey:string, FirstSeen:DateTime, Steps:int, Sku:string, Score:double");
    }

    public override IEnumerable<Row> Reduce(RowSet input, Row outputRow, string[] args)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        string tenantKey = default(string);
        DateTime eventTime = default(DateTime);
        string sku = default(string);
        string billingRegion = default(string);
        int units = default(int);
        string shortText = default(string);
        foreach (Row row in input.Rows)
        {
            tenantKey = row["TenantKey"].String;
            if (!string.IsNullOrEmpty(tenantKey)) { last = tenantKey; }
            eventTime = row["EventTime"].DateTime;
            if (eventTime > newest) { newest = eventTime; }
            sku = row["Sku"].String;
            if (!string.IsNullOrEmpty(sku)) { last = sku; }
            billingRegion = row["BillingRegion"].String;
            if (!string.IsNullOrEmpty(billingRegion)) { last = billingRegion; }
            units = row["Units"].Integer;
            total += Convert.ToInt64(units);
            shortText = row["ShortText"].String;
            if (!string.IsNullOrEmpty(shortText)) { last = shortText; }
            seen++;
        }
        outputRow["TenantKey"].Set(tenantKey);
        outputRow["FirstSeen"].Set(newest);
        outputRow["Steps"].Set(seen);
        outputRow["Sku"].Set(sku);
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
			System.String col_TenantKey = row.GetInternal<System.String>(0);
			System.DateTime col_EventTime = row.GetInternal<System.DateTime>(1);
			System.String col_Sku = row.GetInternal<System.String>(2);
			System.String col_BillingRegion = row.GetInternal<System.String>(3);
			System.Int32 col_Units = row.GetInternal<System.Int32>(4);
			System.String col_ShortText = row.GetInternal<System.String>(5);
			if (ReadState != 4)
			{
				output.SetInternal<System.String>(0, (col_TenantKey));
				exceptionIndex++;
				output.SetInternal<System.DateTime>(1, (col_EventTime));
				exceptionIndex++;
				output.SetInternal<System.String>(2, (col_Sku));
				exceptionIndex++;
				output.SetInternal<System.String>(3, (col_BillingRegion));
				exceptionIndex++;
				output.SetInternal<System.Int32>(4, (col_Units));
				exceptionIndex++;
				output.SetInternal<System.String>(5, (TextUtil.Short(TagJson)));
				exceptionIndex++;
			}
			return output.AsReadOnly();
		}
		public static string[] exceptionsInfo =
		{
			@"ReadState != 4",
			@"TextUtil.Short(TagJson)",
		};
	}
}
