using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using Latenn;

namespace Checks
{
    /// <summary>Where libraries are looked for.</summary>
    internal static class PlaceChecks
    {
        private const string Listed = "NATIVE_DLL_SEARCH_DIRECTORIES";

        public static void NoFolderBeginsAtTheWorkingFolder()
        {
            object? before = AppDomain.CurrentDomain.GetData(Listed);
            string name = "planted-" + Guid.NewGuid();
            Directory.CreateDirectory(name);
            try
            {
                AppDomain.CurrentDomain.SetData(Listed, name + Path.PathSeparator + before);
                MethodInfo find = typeof(Model).Assembly.GetType("Latenn.HostDirectories")!.GetMethod("Find")!;
                var folders = (IReadOnlyList<string>)find.Invoke(null, null)!;
                Expect.Equal(false, folders.Any(folder => folder.Contains(name, StringComparison.Ordinal)));
            }
            finally
            {
                AppDomain.CurrentDomain.SetData(Listed, before);
                Directory.Delete(name);
            }
        }
    }
}
