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
    /// <summary>Registers the execution provider, runs a model on its device, and unregisters it.</summary>
    internal static class Program
    {
        // Positions of functions in OrtApi, the same in every version (onnxruntime_c_api.h).
        private const int GetErrorMessage = 2, CreateEnv = 3, CreateSession = 8, Run = 9, CreateOptions = 10;
        private const int CreateTensor = 49, GetData = 51, CreateMemoryInfo = 69, AddEntry = 130;
        private const int ReleaseEnv = 92, ReleaseMemoryInfo = 94, ReleaseSession = 95, ReleaseValue = 96, ReleaseOptions = 100;
        private const int Register = 301, Unregister = 302, GetEpDevices = 303, Append = 304, EpDeviceName = 312;

        // y = Relu(Mul(a, b)) for float tensors of 2 x 3.
        private const string Model = "CAg6YAoOCgFhCgFiEgFjIgNNdWwKDAoBYxIBeSIEUmVsdRIBZ1oTCgFhEg4KDAgBEggKAggCCgIIA1oTCgFiEg4KDAgBEggKAggCCgII"
            + "A2ITCgF5Eg4KDAgBEggKAggCCgIIA0IECgAQEQ==";
        private static readonly float[] A = { 1, -2, 3, -4, 5, -6 }, B = { 2, 2, -2, -1, 0.5f, 1 };

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
        private delegate IntPtr Make(out IntPtr made);
        private delegate IntPtr Entry(IntPtr options, byte[] key, byte[] value);
        private delegate IntPtr AppendDevices(
            IntPtr options, IntPtr env, IntPtr[] devices, UIntPtr count, IntPtr keys, IntPtr values, UIntPtr pairs);
        private delegate IntPtr Open(IntPtr env, byte[] model, UIntPtr size, IntPtr options, out IntPtr session);
        private delegate IntPtr Memory(int allocator, int kind, out IntPtr info);
        private delegate IntPtr Wrap(IntPtr info, IntPtr data, UIntPtr size, long[] shape, UIntPtr rank, int type, out IntPtr value);
        private delegate IntPtr Compute(IntPtr session, IntPtr options, IntPtr[] inputs, IntPtr[] values, UIntPtr count,
            IntPtr[] outputs, UIntPtr outputCount, [In, Out] IntPtr[] made);
        private delegate IntPtr Data(IntPtr value, out IntPtr data);

        private static int Main(string[] arguments)
        {
            IntPtr table = OrtGetApiBase();
            string version = Text(Delegate<GetVersion>(Marshal.ReadIntPtr(table, IntPtr.Size))());
            api = Delegate<GetApi>(Marshal.ReadIntPtr(table))(23);
            Dictionary<string, string> wrong = Cases(TinyEp.GetLibraryPath());
            string passed = string.Join(", ", wrong.Keys.Where(one => wrong[one] == "").Select(Quoted));
            string failed = string.Join(", ", wrong.Keys.Where(one => wrong[one] != "")
                .Select(one => "{\"name\": " + Quoted(one) + ", \"message\": " + Quoted(wrong[one]) + "}"));
            Assembly helper = typeof(TinyEp).Assembly;
            string framework = helper.GetCustomAttribute<TargetFrameworkAttribute>().FrameworkName;
            string assembly = "{\"path\": " + Quoted(helper.Location) + ", \"framework\": " + Quoted(framework) + "}";
            File.WriteAllText(arguments[1], "{\"assembly\": " + assembly + ", \"report\": {\"version\": \"" + version + "\"}, \"passed\": [" + passed
                + "], \"failed\": [" + failed + "], \"libraries\": [" + string.Join(", ", libraries) + "]}");
            return wrong.Values.All(one => one == "") ? 0 : 1;
        }

        /// <summary>What was wrong with each case, "" for nothing.</summary>
        private static Dictionary<string, string> Cases(string path)
        {
            byte[] name = Bytes(TinyEp.GetEpName());
            bool isWindows = RuntimeInformation.IsOSPlatform(OSPlatform.Windows);
            byte[] library = isWindows ? Encoding.Unicode.GetBytes(path + "\0") : Bytes(path);
            Check(Function<Create>(CreateEnv)(3, name, out IntPtr env));
            Check(Function<RegisterLibrary>(Register)(env, name, library));
            Check(Function<Devices>(GetEpDevices)(env, out IntPtr all, out UIntPtr count));
            string[] names = TinyEp.GetEpNames();
            IntPtr[] devices = Enumerable.Range(0, (int)count).Select(i => Marshal.ReadIntPtr(all, i * IntPtr.Size)).ToArray();
            IntPtr[] own = devices.Where(one => names.Contains(DeviceName(one))).ToArray();
            string[] lacking = names.Except(own.Select(DeviceName)).ToArray();
            var wrong = new Dictionary<string, string>
            {
                ["names"] = lacking.Length == 0 ? "" : "no device is for " + string.Join(", ", lacking) + "; the devices are for "
                    + string.Join(", ", devices.Select(DeviceName).Distinct()),
            };
            if (own.Length > 0)
            {
                float[] computed = Computed(env, own[0]), expected = A.Zip(B, (a, b) => Math.Max(a * b, 0)).ToArray();
                wrong["numbers"] = computed.SequenceEqual(expected) ? "" : "computed " + string.Join(" ", computed)
                    + ", expected " + string.Join(" ", expected);
            }
            libraries = Libraries().ToArray();
            Check(Function<UnregisterLibrary>(Unregister)(env, name));
            Function<Release>(ReleaseEnv)(env);
            return wrong;
        }

        private static string DeviceName(IntPtr device) { return Text(Function<GetText>(EpDeviceName)(device)); }

        /// <summary>What a session computes on the device, without the kernels of the CPU.</summary>
        private static float[] Computed(IntPtr env, IntPtr device)
        {
            byte[] model = Convert.FromBase64String(Model);
            Check(Function<Make>(CreateOptions)(out IntPtr options));
            Check(Function<Entry>(AddEntry)(options, Bytes("session.disable_cpu_ep_fallback"), Bytes("1")));
            Check(Function<AppendDevices>(Append)(
                options, env, new[] { device }, (UIntPtr)1, IntPtr.Zero, IntPtr.Zero, UIntPtr.Zero));
            Check(Function<Open>(CreateSession)(env, model, (UIntPtr)model.Length, options, out IntPtr session));
            Check(Function<Memory>(CreateMemoryInfo)(0, 0, out IntPtr info));
            GCHandle[] pinned = new[] { A, B }.Select(values => GCHandle.Alloc(values, GCHandleType.Pinned)).ToArray();
            IntPtr[] inputs = pinned.Select(one => Tensor(info, one.AddrOfPinnedObject())).ToArray();
            IntPtr[] names = new[] { "a", "b", "y" }.Select(Marshal.StringToHGlobalAnsi).ToArray();
            var outputs = new IntPtr[1];
            Check(Function<Compute>(Run)(
                session, IntPtr.Zero, names, inputs, (UIntPtr)2, new[] { names[2] }, (UIntPtr)1, outputs));
            Check(Function<Data>(GetData)(outputs[0], out IntPtr data));
            var computed = new float[A.Length];
            Marshal.Copy(data, computed, 0, computed.Length);
            inputs.Concat(outputs).ToList().ForEach(one => Function<Release>(ReleaseValue)(one));
            names.ToList().ForEach(Marshal.FreeHGlobal);
            pinned.ToList().ForEach(one => one.Free());
            Function<Release>(ReleaseMemoryInfo)(info);
            Function<Release>(ReleaseSession)(session);
            Function<Release>(ReleaseOptions)(options);
            return computed;
        }

        private static IntPtr Tensor(IntPtr info, IntPtr data)
        {
            var size = (UIntPtr)(A.Length * sizeof(float));
            Check(Function<Wrap>(CreateTensor)(info, data, size, new long[] { 2, 3 }, (UIntPtr)2, 1, out IntPtr value));
            return value;
        }

        private static byte[] Bytes(string text) { return Encoding.UTF8.GetBytes(text + "\0"); }

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
