using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public static class RowRules
{
    public static bool Accept(int value)
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
			System.String col_TenantKey = row.GetInternal<System.String>(0);
			System.String col_Sku = row.GetInternal<System.String>(1);
			System.Int32 col_Units = row.GetInternal<System.Int32>(2);
			if (ReadState != 4 && RowRules.Accept(Units))
			{
				output.SetInternal<System.String>(0, (col_TenantKey));
				exceptionIndex++;
				output.SetInternal<System.String>(1, (col_Sku));
				exceptionIndex++;
				output.SetInternal<System.Int32>(2, (col_Units));
				exceptionIndex++;
			}
			return output.AsReadOnly();
		}
		public static string[] exceptionsInfo =
		{
			@"ReadState != 4",
			@"RowRules.Accept(Units)",
		};
	}
}
