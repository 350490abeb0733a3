using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>
    /// The folders in which .NET keeps native files of packages: .NET searches them for <c>DllImport</c> only, so a
    /// library that another library opens needs them. It opens nothing.
    /// </summary>
    internal static class HostDirectories
    {
        private static readonly string[] Libraries =
        {
            "latenn_backend_onnxruntime", "latenn_backend_openvino", "latenn_backend_litert", "onnxruntime", "openvino_c",
            "LiteRt",
        };

        /// <summary>The portable runtime identifier of this process: "linux-x64".</summary>
        public static string RuntimeIdentifier
        {
            get
            {
                string system = RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? "win"
                    : RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? "osx"
                    : RuntimeInformation.IsOSPlatform(OSPlatform.Linux) ? "linux"
                    : "unix";
                return system + "-" + RuntimeInformation.ProcessArchitecture.ToString().ToLowerInvariant();
            }
        }

        /// <summary>The folders that exist, the most specific first, none twice.</summary>
        public static IReadOnlyList<string> Find()
        {
            var found = new List<string>();
            // What the host resolved from the application's deps.json: the package cache, runtimes/RID/native, the
            // folder into which a single file unpacked itself.
            if (AppDomain.CurrentDomain.GetData("NATIVE_DLL_SEARCH_DIRECTORIES") is string listed)
            {
                foreach (string directory in listed.Split(Path.PathSeparator))
                    Add(found, directory);
            }
            foreach (string directory in FindOfPlugin())
                Add(found, directory);
            string application = AppContext.BaseDirectory ?? "";
            Add(found, application);
            if (application.Length > 0)
            {
                foreach (string identifier in Identifiers())
                    Add(found, Path.Combine(application, "runtimes", identifier, "native"));
            }
            return found;
        }

        /// <summary>
        /// Where .NET has the libraries of a plug-in that this assembly belongs to, by the deps.json files next to it. Asked
        /// by reflection: .NET Standard lacks the resolver, which .NET has from .NET Core 3.0 on. Linkers keep it, since
        /// its names are constants here (learn.microsoft.com, "Prepare .NET libraries for trimming").
        /// </summary>
        private static IEnumerable<string> FindOfPlugin()
        {
            var found = new List<string>();
            Type? resolver = Type.GetType("System.Runtime.Loader.AssemblyDependencyResolver, System.Runtime.Loader");
            MethodInfo? resolve = resolver?.GetMethod("ResolveUnmanagedDllToPath");
            string own = Path.GetDirectoryName(typeof(HostDirectories).Assembly.Location) ?? "";
            string application = (AppContext.BaseDirectory ?? "").TrimEnd(Path.DirectorySeparatorChar);
            if (resolver == null || resolve == null || own.Length == 0 || own == application)
                return found;
            const string Ending = ".deps.json";
            foreach (string file in ListFiles(own, "*" + Ending))
            {
                try
                {
                    string assembly = file.Substring(0, file.Length - Ending.Length) + ".dll";
                    object? component = Activator.CreateInstance(resolver, assembly);
                    foreach (string name in Libraries)
                    {
                        if (resolve.Invoke(component, new object[] { name }) is string path)
                            found.Add(Path.GetDirectoryName(path) ?? "");
                    }
                }
                catch (TargetInvocationException)
                {
                    // The file is no component's, or this process was not started by .NET's own host.
                }
            }
            return found;
        }

        /// <summary>None in a folder that this process may not list.</summary>
        private static IEnumerable<string> ListFiles(string directory, string pattern)
        {
            try
            {
                return Directory.GetFiles(directory, pattern);
            }
            catch (Exception problem) when (problem is IOException || problem is UnauthorizedAccessException)
            {
                return Array.Empty<string>();
            }
        }

        private static IEnumerable<string> Identifiers()
        {
            // Known from .NET 5 on; "linux-musl-x64" where this process runs on musl.
            if (AppDomain.CurrentDomain.GetData("RUNTIME_IDENTIFIER") is string exact && exact.Length > 0)
                yield return exact;
            yield return RuntimeIdentifier;
        }

        private static void Add(List<string> found, string directory)
        {
            if (directory.Length == 0)
                return;
            try
            {
                // A relative one would begin at the working folder, which may be anyone's.
                if (!Path.IsPathRooted(directory))
                    return;
                string full = Path.GetFullPath(directory);
                // The host ends its folders with a separator; a root keeps its own.
                if (full.Length > (Path.GetPathRoot(full) ?? "").Length)
                    full = full.TrimEnd(Path.DirectorySeparatorChar, Path.AltDirectorySeparatorChar);
                if (!found.Contains(full) && Directory.Exists(full))
                    found.Add(full);
            }
            catch (Exception problem) when (problem is ArgumentException || problem is NotSupportedException || problem is IOException)
            {
                // The host listed something that is not a path on this system.
            }
        }
    }
}
