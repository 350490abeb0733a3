using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Demo;

namespace Smoke
{
    /// <summary>Calls the libraries of the two packages and of ONNX Runtime's, and writes what a consumer writes.</summary>
    internal static class Program
    {
        private delegate IntPtr GetVersion();

        [DllImport("onnxruntime")]
        private static extern IntPtr OrtGetApiBase();

        private static int Main(string[] arguments)
        {
            try
            {
                string[] numbers = { Numbers.Core().ToString(), Numbers.Extra().ToString() };
                string version = RuntimeVersion();
                Assembly assembly = typeof(Numbers).Assembly;
                string framework = assembly.GetCustomAttribute<TargetFrameworkAttribute>().FrameworkName;
                Write(arguments[1], "\"passed\": " + List(numbers) + ", \"libraries\": " + List(Libraries())
                    + ", \"report\": {\"version\": " + Quoted(version) + "}, \"assembly\": {\"path\": "
                    + Quoted(assembly.Location) + ", \"framework\": " + Quoted(framework) + "}");
                return 0;
            }
            catch (DllNotFoundException problem)
            {
                Write(arguments[1], "\"error\": {\"message\": " + Quoted(problem.Message) + "}");
                return 3;
            }
        }

        private static string RuntimeVersion()
        {
            IntPtr version = Marshal.ReadIntPtr(OrtGetApiBase(), IntPtr.Size);
            return Marshal.PtrToStringAnsi(Marshal.GetDelegateForFunctionPointer<GetVersion>(version)());
        }

        private static IEnumerable<string> Libraries()
        {
            string[] names = { "/libdemo_core.so", "/libdemo_extra.so", "/libonnxruntime.so" };
            return File.ReadAllLines("/proc/self/maps").Where(line => names.Any(line.Contains))
                .Select(line => line.Substring(line.IndexOf('/'))).Distinct();
        }

        private static void Write(string file, string fields) { File.WriteAllText(file, "{" + fields + "}"); }

        private static string List(IEnumerable<string> texts) { return "[" + string.Join(", ", texts.Select(Quoted)) + "]"; }

        private static string Quoted(string text)
        {
            return "\"" + text.Replace("\\", "/").Replace("\"", "'").Replace("\r", "").Replace("\n", " ") + "\"";
        }
    }
}
