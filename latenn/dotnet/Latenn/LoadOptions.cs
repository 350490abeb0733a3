using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Latenn
{
    /// <summary>How to load a model. Everything may be left as it is: null leaves a choice open, an empty text is refused.</summary>
    public sealed class LoadOptions
    {
        /// <summary>A backend's name ("onnxruntime") or the path of a backend library. Null: the environment variable
        /// LATENN_BACKEND, else by the model's encoding, or the only one there is.</summary>
        public string? Backend { get; set; }

        /// <summary>The device, "cpu" when null.</summary>
        public string? Device { get; set; }

        /// <summary>The runtime's library or its folder. When set, nothing else is tried.</summary>
        public string? RuntimePath { get; set; }

        /// <summary>The oldest runtime to accept ("1.20"): raises the backend's own floor.</summary>
        public string? RuntimeMinimum { get; set; }

        /// <summary>Folders with backend libraries, searched before the folders of this application.</summary>
        public IList<string> BackendDirectories { get; } = new List<string>();

        /// <summary>Folders with runtime libraries, searched before the folders of this application.</summary>
        public IList<string> RuntimeDirectories { get; } = new List<string>();

        /// <summary>Options for the backend; an unknown key is an error.</summary>
        public IDictionary<string, string> BackendOptions { get; } = new Dictionary<string, string>(StringComparer.Ordinal);

        /// <summary>The weights (.bin) of an OpenVINO IR whose .xml is loaded from memory; null for every other model.</summary>
        public byte[]? Weights { get; set; }

        /// <summary>What the model keeps outside of itself, by the names that it has in the model: the external data of an
        /// ONNX model from memory.</summary>
        public IDictionary<string, byte[]> Files { get; } = new Dictionary<string, byte[]>(StringComparer.Ordinal);

        /// <summary>Gets what ONNX Runtime logs of the model, on any thread: severity, category, message. Warnings and
        /// errors, unless the backend option log_severity_level (0 to 4) says otherwise. What it throws is dropped, and it
        /// is kept until the process ends. Null: a model logs nothing, and with that option it prints to stderr. The
        /// other backends log nothing.</summary>
        public Action<LogSeverity, string, string>? Log { get; set; }
    }

    /// <summary>Turns <see cref="LoadOptions"/> into <c>latenn_load_options</c>.</summary>
    internal static class OptionsMarshal
    {
        /// <summary>The command that a .NET user types to get the runtime.</summary>
        public const string RuntimeAdvice = "dotnet add package Microsoft.ML.OnnxRuntime";

        /// <summary>The native options, good until the arena is disposed.</summary>
        /// <exception cref="ArgumentException">A text cannot be given to C.</exception>
        public static Native.Options ToNative(LoadOptions? options, Arena arena)
        {
            options ??= new LoadOptions();
            IReadOnlyList<string> host = HostDirectories.Find();
            List<string> backends = Join(options.BackendDirectories, host);
            List<string> runtimes = Join(options.RuntimeDirectories, host);
            return new Native.Options
            {
                Size = (uint)Marshal.SizeOf<Native.Options>(),
                Backend = arena.Choice(options.Backend ?? InstalledBackends.Choice(backends), nameof(options.Backend)),
                Device = arena.Choice(options.Device, nameof(options.Device)),
                BackendDirectories = arena.Texts(backends, nameof(options.BackendDirectories)),
                BackendDirectoryCount = new UIntPtr((uint)backends.Count),
                RuntimePath = arena.Choice(options.RuntimePath, nameof(options.RuntimePath)),
                RuntimeDirectories = arena.Texts(runtimes, nameof(options.RuntimeDirectories)),
                RuntimeDirectoryCount = new UIntPtr((uint)runtimes.Count),
                RuntimeMinimum = arena.Choice(options.RuntimeMinimum, nameof(options.RuntimeMinimum)),
                RuntimeAdvice = arena.Text($"onnxruntime: {RuntimeAdvice}\n", nameof(RuntimeAdvice)),
                BackendOptions = Pairs(options.BackendOptions, arena, nameof(LoadOptions.BackendOptions)),
                BackendOptionCount = new UIntPtr((uint)options.BackendOptions.Count),
                Weights = options.Weights == null ? IntPtr.Zero : arena.Pin(options.Weights),
                WeightsSize = new UIntPtr((ulong)(options.Weights?.LongLength ?? 0)),
                Log = options.Log == null ? IntPtr.Zero : RuntimeLog.Function,
                LogUser = RuntimeLog.User(options.Log),
                Files = Files(options.Files, arena),
                FileCount = new UIntPtr((uint)options.Files.Count),
            };
        }

        private static List<string> Join(IEnumerable<string> first, IEnumerable<string> then)
        {
            var all = new List<string>(first);
            all.AddRange(then);
            return all;
        }

        private static IntPtr Files(IDictionary<string, byte[]> files, Arena arena)
        {
            IntPtr table = arena.Allocate((long)files.Count * 3 * IntPtr.Size);
            int place = 0;
            foreach (KeyValuePair<string, byte[]> file in files)
            {
                Marshal.WriteIntPtr(table, place, arena.Text(file.Key, nameof(LoadOptions.Files)));
                Marshal.WriteIntPtr(table, place + IntPtr.Size, arena.Pin(file.Value));
                Marshal.WriteIntPtr(table, place + 2 * IntPtr.Size, new IntPtr(file.Value.LongLength));
                place += 3 * IntPtr.Size;
            }
            return table;
        }

        /// <summary>An array of <c>latenn_option</c>; NULL when there are none.</summary>
        public static IntPtr Pairs(ICollection<KeyValuePair<string, string>> pairs, Arena arena, string parameter)
        {
            if (pairs.Count == 0)
                return IntPtr.Zero;
            int size = Marshal.SizeOf<Native.Option>();
            IntPtr table = arena.Allocate((long)pairs.Count * size);
            IntPtr next = table;
            foreach (KeyValuePair<string, string> pair in pairs)
            {
                Marshal.WriteIntPtr(next, arena.Text(pair.Key, parameter));
                Marshal.WriteIntPtr(next, IntPtr.Size, arena.Text(pair.Value ?? "", parameter));
                next = IntPtr.Add(next, size);
            }
            return table;
        }
    }
}
