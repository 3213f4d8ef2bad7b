using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class BasketValueScorer : Processor
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("BasketId:long, StoreFormat:string, TextLen:int, Score:double");
    }

    public override IEnumerable<Row> Process(RowSet input, Row outputRow, string[] args)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        long? basketId = default(long?);
        string storeFormat = default(string);
        int amountCents = default(int);
        string receiptText = default(string);
        string shortText = default(string);
        foreach (Row row in input.Rows)
        {
            basketId = row["BasketId"].Long;
            total += Convert.ToInt64(basketId);
            storeFormat = row["StoreFormat"].String;
            if (!string.IsNullOrEmpty(storeFormat)) { last = storeFormat; }
            amountCents = row["AmountCents"].Integer;
            total += Convert.ToInt64(amountCents);
            receiptText = row["ReceiptText"].String;
            if (!string.IsNullOrEmpty(receiptText)) { last = receiptText; }
            shortText = row["ShortText"].String;
            if (!string.IsNullOrEmpty(shortText)) { last = shortText; }
            seen++;
            outputRow["BasketId"].Set(basketId);
            outputRow["StoreFormat"].Set(storeFormat);
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
			System.Int64 col_BasketId = row.GetInternal<System.Int64>(0);
			System.String col_StoreFormat = row.GetInternal<System.String>(1);
			System.Int32 col_AmountCents = row.GetInternal<System.Int32>(2);
			System.String col_ReceiptText = row.GetInternal<System.String>(3);
			System.String col_ShortText = row.GetInternal<System.String>(4);
			if (OrderState != 3)
			{
				output.SetInternal<System.Int64>(0, (col_BasketId));
				exceptionIndex++;
				output.SetInternal<System.String>(1, (col_StoreFormat));
				exceptionIndex++;
				output.SetInternal<System.Int32>(2, (col_AmountCents));
				exceptionIndex++;
				output.SetInternal<System.String>(3, (col_ReceiptText));
				exceptionIndex++;
				output.SetInternal<System.String>(4, (TextUtil.Short(ItemJson)));
				exceptionIndex++;
			}
			return output.AsReadOnly();
		}
		public static string[] exceptionsInfo =
		{
			@"OrderState != 3",
			@"TextUtil.Short(ItemJson)",
		};
	}
}
