using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

[SqlUserDefinedReducer]
public class InvoiceLinesFolder : IReducer
{
    public override IEnumerable<IRow> Reduce(IRowset input, IUpdatableRow output)
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
        foreach (IRow row in input.Rows)
        {
            tenantKey = row.Get<string>("TenantKey");
            if (!string.IsNullOrEmpty(tenantKey)) { last = tenantKey; }
            eventTime = row.Get<DateTime>("EventTime");
            if (eventTime > newest) { newest = eventTime; }
            sku = row.Get<string>("Sku");
            if (!string.IsNullOrEmpty(sku)) { last = sku; }
            billingRegion = row.Get<string>("BillingRegion");
            if (!string.IsNullOrEmpty(billingRegion)) { last = billingRegion; }
            units = row.Get<int>("Units");
            total += Convert.ToInt64(units);
            seen++;
        }
        output.Set<string>("TenantKey", tenantKey);
        output.Set<DateTime>("FirstSeen", newest);
        output.Set<int>("Steps", seen);
        output.Set<string>("Sku", sku);
        output.Set<double>("Score", (double)total / Math.Max(1, seen));
        yield return output.AsReadOnly();
    }
}

public class ___Scope_Generated_Classes___
{
}
