using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class InvoiceLinesScorer : Processor
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("TenantKey:string, Sku:string, TextLen:int, Score:double");
    }

    public override IEnumerable<Row> Process(RowSet input, Row outputRow, string[] args)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        string tenantKey = default(string);
        string sku = default(string);
        int units = default(int);
        string resourcePath = default(string);
        string shortText = default(string);
        foreach (Row row in input.Rows)
        {
            tenantKey = row["TenantKey"].String;
            if (!string.IsNullOrEmpty(tenantKey)) { last = tenantKey; }
            sku = row["Sku"].String;
            if (!string.IsNullOrEmpty(sku)) { last = sku; }
            units = row["Units"].Integer;
            total += Convert.ToInt64(units);
            resourcePath = row["ResourcePath"].String;
            if (!string.IsNullOrEmpty(resourcePath)) { last = resourcePath; }
            shortText = row["ShortText"].String;
            if (!string.IsNullOrEmpty(shortText)) { last = shortText; }
            seen++;
            outputRow["TenantKey"].Set(tenantKey);
            outputRow["Sku"].Set(sku);
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
			System.String col_TenantKey = row.GetInternal<System.String>(0);
			System.String col_Sku = row.GetInternal<System.String>(1);
			System.Int32 col_Units = row.GetInternal<System.Int32>(2);
			System.String col_ResourcePath = row.GetInternal<System.String>(3);
			System.String col_ShortText = row.GetInternal<System.String>(4);
			if (ReadState != 3)
			{
				output.SetInternal<System.String>(0, (col_TenantKey));
				exceptionIndex++;
				output.SetInternal<System.String>(1, (col_Sku));
				exceptionIndex++;
				output.SetInternal<System.Int32>(2, (col_Units));
				exceptionIndex++;
				output.SetInternal<System.String>(3, (col_ResourcePath));
				exceptionIndex++;
				output.SetInternal<System.String>(4, (TextUtil.Short(TagJson)));
				exceptionIndex++;
			}
			return output.AsReadOnly();
		}
		public static string[] exceptionsInfo =
		{
			@"ReadState != 3",
			@"TextUtil.Short(TagJson)",
		};
	}
}
