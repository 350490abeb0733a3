using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>The backends that are in given folders, by the names of their libraries. It opens nothing.</summary>
    internal static class InstalledBackends
    {
        private const string Stem = "latenn_backend_";

        /// <summary>Their names as the core takes a choice among several, "litert,openvino,"; null where there is none.</summary>
        public static string? Choice(IEnumerable<string> folders)
        {
            (string prefix, string ending) = RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? (Stem, ".dll")
                : RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? ("lib" + Stem, ".dylib")
                : ("lib" + Stem, ".so");
            IEnumerable<string> names = folders
                .SelectMany(folder => Files(folder, prefix + "*" + ending))
                .Select(file => Path.GetFileName(file))
                .Where(name => name.Length > prefix.Length + ending.Length)
                .Select(name => name.Substring(prefix.Length, name.Length - prefix.Length - ending.Length))
                .Distinct()
                .OrderBy(name => name, StringComparer.Ordinal);
            string choice = string.Concat(names.Select(name => name + ","));
            return choice.Length > 0 ? choice : null;
        }

        private static string[] Files(string folder, string pattern)
        {
            try
            {
                return Directory.GetFiles(folder, pattern);
            }
            catch (Exception problem) when (problem is IOException || problem is UnauthorizedAccessException || problem is ArgumentException)
            {
                return Array.Empty<string>(); // the core says what it could not find, and where it looked
            }
        }
    }
}
