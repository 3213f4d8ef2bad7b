using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public class BasketValueFolder : Reducer
{
    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)
    {
        return new Schema("BasketId:long, FirstSeen:DateTime, Steps:int, StoreFormat:string, Score:double");
    }

    public override IEnumerable<Row> Reduce(RowSet input, Row outputRow, string[] args)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        long? basketId = default(long?);
        DateTime eventTime = default(DateTime);
        string storeFormat = default(string);
        string payMethod = default(string);
        int amountCents = default(int);
        foreach (Row row in input.Rows)
        {
            basketId = row["BasketId"].Long;
            total += Convert.ToInt64(basketId);
            eventTime = row["EventTime"].DateTime;
            if (eventTime > newest) { newest = eventTime; }
            storeFormat = row["StoreFormat"].String;
            if (!string.IsNullOrEmpty(storeFormat)) { last = storeFormat; }
            payMethod = row["PayMethod"].String;
            if (!string.IsNullOrEmpty(payMethod)) { last = payMethod; }
            amountCents = row["AmountCents"].Integer;
            total += Convert.ToInt64(amountCents);
            seen++;
        }
        outputRow["BasketId"].Set(basketId);
        outputRow["FirstSeen"].Set(newest);
        outputRow["Steps"].Set(seen);
        outputRow["StoreFormat"].Set(storeFormat);
        outputRow["Score"].Set((double)total / Math.Max(1, seen));
        yield return outputRow;
    }
}

public class ___Scope_Generated_Classes___
{
}
