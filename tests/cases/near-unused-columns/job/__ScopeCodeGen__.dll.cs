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
			System.Int64 col_BasketId = row.GetInternal<System.Int64>(0);
			System.String col_StoreFormat = row.GetInternal<System.String>(1);
			System.Int32 col_AmountCents = row.GetInternal<System.Int32>(2);
			if (OrderState != 3 && RowRules.Accept(AmountCents))
			{
				output.SetInternal<System.Int64>(0, (col_BasketId));
				exceptionIndex++;
				output.SetInternal<System.String>(1, (col_StoreFormat));
				exceptionIndex++;
				output.SetInternal<System.Int32>(2, (col_AmountCents));
				exceptionIndex++;
			}
			return output.AsReadOnly();
		}
		public static string[] exceptionsInfo =
		{
			@"OrderState != 3",
			@"RowRules.Accept(AmountCents)",
		};
	}
}
