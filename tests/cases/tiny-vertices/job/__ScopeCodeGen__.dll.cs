using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public static class RowRules
{
    public static bool IsWanted(int value)
    {
        return value % 100 < 23;
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
			System.String col_Folder = row.GetInternal<System.String>(1);
			System.Int32 col_ScoreMilli = row.GetInternal<System.Int32>(2);
			if (Verdict != 5 && RowRules.IsWanted(ScoreMilli))
			{
				output.SetInternal<System.Int64>(0, (col_SenderId));
				exceptionIndex++;
				output.SetInternal<System.String>(1, (col_Folder));
				exceptionIndex++;
				output.SetInternal<System.Int32>(2, (col_ScoreMilli));
				exceptionIndex++;
			}
			return output.AsReadOnly();
		}
		public static string[] exceptionsInfo =
		{
			@"Verdict != 5",
			@"RowRules.IsWanted(ScoreMilli)",
			@"TextUtil.Short(BodySample)",
		};
	}
}
