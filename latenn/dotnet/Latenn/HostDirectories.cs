using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>
    /// The folders in which .NET keeps native files of packages: .NET searches them for <c>DllImport</c> only, so a
    /// library that another library opens needs them. It opens nothing.
    /// </summary>
    internal static class HostDirectories
    {
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
            string application = AppContext.BaseDirectory ?? "";
            Add(found, application);
            if (application.Length > 0)
            {
                foreach (string identifier in Identifiers())
                    Add(found, Path.Combine(application, "runtimes", identifier, "native"));
            }
            return found;
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
