using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

[SqlUserDefinedProcessor]
public class SpamSignalsScorer : IProcessor
{
    public override IRow Process(IRow row, IUpdatableRow output)
    {
        long total = 0;
        int seen = 0;
        string last = "";
        DateTime newest = DateTime.MinValue;
        long? senderId = default(long?);
        string folder = default(string);
        int scoreMilli = default(int);
        string headerText = default(string);
        var kept = new List<object[]>();
        senderId = row.Get<long?>("SenderId");
        total += Convert.ToInt64(senderId);
        folder = row.Get<string>("Folder");
        if (!string.IsNullOrEmpty(folder)) { last = folder; }
        scoreMilli = row.Get<int>("ScoreMilli");
        total += Convert.ToInt64(scoreMilli);
        headerText = row.Get<string>("HeaderText");
        if (!string.IsNullOrEmpty(headerText)) { last = headerText; }
        kept.Add(new object[] { senderId, folder, scoreMilli, headerText });
        seen++;
        output.Set<long>("SenderId", senderId);
        output.Set<string>("Folder", folder);
        output.Set<int>("TextLen", seen);
        output.Set<double>("Score", (double)total / Math.Max(1, seen));
        return output.AsReadOnly();
    }
}

public class ___Scope_Generated_Classes___
{
}
