using Microsoft.SCOPE.Types;
using ScopeRuntime;
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;

public static class TextUtil
{
    public static string Short(string text)
    {
        return text == null || text.Length < 12 ? text : text.Substring(0, 12);
    }
}

public class ___Scope_Generated_Classes___
{
}
