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

public class ___Scope_Generated_Classes___
{
}
