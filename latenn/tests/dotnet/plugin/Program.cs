using System;
using System.Reflection;
using System.Runtime.Loader;

/// <summary>Loads a model: <c>MODEL</c> itself, <c>MODEL PLUGIN</c> in the copy of this program that is loaded as a plug-in.</summary>
public static class Program
{
    private sealed class Context : AssemblyLoadContext
    {
        private readonly AssemblyDependencyResolver _resolver;

        public Context(string plugin) => _resolver = new AssemblyDependencyResolver(plugin);

        protected override Assembly? Load(AssemblyName name) =>
            _resolver.ResolveAssemblyToPath(name) is string path ? LoadFromAssemblyPath(path) : null;

        protected override IntPtr LoadUnmanagedDll(string name) =>
            _resolver.ResolveUnmanagedDllToPath(name) is string path ? LoadUnmanagedDllFromPath(path) : IntPtr.Zero;
    }

    public static void Use(string model)
    {
        using (Latenn.Model.Load(model))
            Console.WriteLine("loaded");
    }

    private static void Main(string[] words)
    {
        if (words.Length == 1)
        {
            Use(words[0]);
            return;
        }
        Type plugin = new Context(words[1]).LoadFromAssemblyPath(words[1]).GetType("Program")!;
        plugin.GetMethod("Use")!.Invoke(null, new object[] { words[0] });
    }
}
