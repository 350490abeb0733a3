using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Text;
using Tiny.ML.OnnxRuntime.EP.Tiny;

namespace Smoke
{
    /// <summary>Registers the library that the package finds, compares the names of its devices, and unregisters it.</summary>
    internal static class Program
    {
        // Places of functions in OrtApi, the same in every version (onnxruntime_c_api.h).
        private const int GetErrorMessage = 2, CreateEnv = 3, ReleaseEnv = 92;
        private const int Register = 301, Unregister = 302, GetEpDevices = 303, EpDeviceName = 312;

        private static IntPtr api;
        private static string[] libraries;

        [DllImport("onnxruntime")]
        private static extern IntPtr OrtGetApiBase();

        private delegate IntPtr GetApi(uint version);
        private delegate IntPtr GetVersion();
        private delegate IntPtr GetText(IntPtr value);
        private delegate void Release(IntPtr value);
        private delegate IntPtr Create(int level, byte[] name, out IntPtr env);
        private delegate IntPtr RegisterLibrary(IntPtr env, byte[] name, byte[] path);
        private delegate IntPtr UnregisterLibrary(IntPtr env, byte[] name);
        private delegate IntPtr Devices(IntPtr env, out IntPtr devices, out UIntPtr count);

        private static int Main(string[] arguments)
        {
            IntPtr table = OrtGetApiBase();
            string version = Text(Delegate<GetVersion>(Marshal.ReadIntPtr(table, IntPtr.Size))());
            api = Delegate<GetApi>(Marshal.ReadIntPtr(table))(23);
            string wrong = Difference(TinyEp.GetLibraryPath());
            string passed = wrong.Length == 0 ? "\"registered\"" : "";
            string failed = wrong.Length == 0 ? "" : "{\"name\": \"registered\", \"message\": " + Quoted(wrong) + "}";
            Assembly helper = typeof(TinyEp).Assembly;
            string framework = helper.GetCustomAttribute<TargetFrameworkAttribute>().FrameworkName;
            string assembly = "{\"path\": " + Quoted(helper.Location) + ", \"framework\": " + Quoted(framework) + "}";
            File.WriteAllText(arguments[1], "{\"assembly\": " + assembly + ", \"report\": {\"version\": \"" + version + "\"}, \"passed\": [" + passed
                + "], \"failed\": [" + failed + "], \"libraries\": [" + string.Join(", ", libraries) + "]}");
            return wrong.Length == 0 ? 0 : 1;
        }

        private static string Difference(string path)
        {
            byte[] name = Encoding.UTF8.GetBytes("tiny\0");
            bool isWindows = RuntimeInformation.IsOSPlatform(OSPlatform.Windows);
            byte[] library = (isWindows ? Encoding.Unicode : Encoding.UTF8).GetBytes(path + "\0");
            Check(Function<Create>(CreateEnv)(3, name, out IntPtr env));
            Check(Function<RegisterLibrary>(Register)(env, name, library));
            Check(Function<Devices>(GetEpDevices)(env, out IntPtr devices, out UIntPtr count));
            var found = new HashSet<string>(Enumerable.Range(0, (int)count)
                .Select(i => Text(Function<GetText>(EpDeviceName)(Marshal.ReadIntPtr(devices, i * IntPtr.Size)))));
            libraries = Libraries().ToArray();
            Check(Function<UnregisterLibrary>(Unregister)(env, name));
            Function<Release>(ReleaseEnv)(env);
            string[] missing = TinyEp.GetEpNames().Where(one => !found.Contains(one)).ToArray();
            return missing.Length == 0 ? "" : "no device of " + string.Join(", ", missing);
        }

        private static void Check(IntPtr status)
        {
            if (status != IntPtr.Zero)
            {
                throw new InvalidOperationException(Text(Function<GetText>(GetErrorMessage)(status)));
            }
        }

        private static T Function<T>(int place) { return Delegate<T>(Marshal.ReadIntPtr(api, place * IntPtr.Size)); }

        private static T Delegate<T>(IntPtr function) { return Marshal.GetDelegateForFunctionPointer<T>(function); }

        private static string Text(IntPtr text) { return Marshal.PtrToStringAnsi(text); }

        private static string Quoted(string text) { return "\"" + text.Replace("\\", "/").Replace("\"", "'") + "\""; }

        /// <summary>The mapped files of the two packages, where the system lists them.</summary>
        private static IEnumerable<string> Libraries()
        {
            string[] lines = File.Exists("/proc/self/maps") ? File.ReadAllLines("/proc/self/maps") : new string[0];
            return lines.Where(line => line.Contains("/libonnxruntime.so") || line.Contains("/libtiny_ep.so"))
                .Select(line => Quoted(line.Substring(line.IndexOf('/')))).Distinct();
        }
    }
}
