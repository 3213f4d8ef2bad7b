using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public static class RowRules
{
    public static bool IsUseful(int value)
    {
        return value % 100 < 23;
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
			if (GpsState != 4 && RowRules.IsUseful(DelaySec))
			{
				output.SetInternal<System.Int64>(0, (col_TripId));
				exceptionIndex++;
				output.SetInternal<System.String>(1, (col_Region));
				exceptionIndex++;
				output.SetInternal<System.Int32>(2, (col_DelaySec));
				exceptionIndex++;
			}
			return output.AsReadOnly();
		}
		public static string[] exceptionsInfo =
		{
			@"GpsState != 4",
			@"RowRules.IsUseful(DelaySec)",
		};
	}
}
