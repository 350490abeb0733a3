using System.Linq;
using System.Reflection;

/// <summary>Calls Main of the class library that the first argument names, with the other arguments.</summary>
internal static class Application
{
    private static int Main(string[] arguments)
    {
        const BindingFlags Any = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;
        MethodInfo main = Assembly.Load(arguments[0]).GetTypes()
            .Select(type => type.GetMethod("Main", Any, null, new[] { typeof(string[]) }, null))
            .First(method => method != null);
        return (int)main.Invoke(null, new object[] { arguments.Skip(1).ToArray() });
    }
}
