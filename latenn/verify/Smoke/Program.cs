using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Threading;
using Latenn;
using XElement = System.Xml.Linq.XElement; // the namespace has a LoadOptions, too

namespace Smoke
{
    /// <summary>Runs every case with the installed packages and writes what happened; it decides nothing else.</summary>
    internal static class Program
    {
        private const int Passed = 0;
        private const int Failed = 1;
        private const int Usage = 2;
        private const int CannotLoad = 3;

        private static int Main(string[] arguments)
        {
            Arguments? given = Arguments.Parse(arguments);
            if (given == null)
            {
                Console.Error.WriteLine("usage: Smoke CASES_DIR OUT_JSON [--path-contains NAME] [--sample N] [--threads N] [--preload FILE] [--runtime-path P] [--runtime-minimum V]");
                return Usage;
            }
            var warnings = new ConcurrentQueue<string>();
            Runtime.Warning += (sender, warning) => warnings.Enqueue(warning.Message);
            if (given.Preload != null)
                Preload(given.Preload);
            Results results = RunTogether(given);
            results.Warnings.AddRange(warnings);
            results.Write(given.Output);
            return results.Code;
        }

        private static void Preload(string library)
        {
#if NETFRAMEWORK
            throw new PlatformNotSupportedException("--preload needs .NET Core.");
#else
            NativeLibrary.Load(library);
#endif
        }

        /// <summary>Every thread does the same, and all of them load at once, first of all. The worst result counts.</summary>
        private static Results RunTogether(Arguments given)
        {
            Results[] each = Enumerable.Range(0, given.Threads).Select(_ => new Results()).ToArray();
            using var barrier = new Barrier(given.Threads);
            Thread[] threads = each.Select(results => new Thread(() => results.Code = Run(given, results, barrier))).ToArray();
            foreach (Thread thread in threads)
                thread.Start();
            foreach (Thread thread in threads)
                thread.Join();
            return each.OrderByDescending(results => results.Code).First();
        }

        private static int Run(Arguments given, Results results, Barrier barrier)
        {
            var options = new LoadOptions { RuntimePath = given.RuntimePath, RuntimeMinimum = given.RuntimeMinimum };
#if ONNXRUNTIME
            if (given.Sample == 0) // threads of its own for each of 1,300 sessions are a third of all work
                options.BackendOptions["intra_op_num_threads"] = "1";
#endif
            using CaseFile file = CaseFile.Open(given.Cases);
            barrier.SignalAndWait();
            foreach (Case one in given.Chosen(file.Cases))
            {
                try
                {
                    string? difference = one.Run(options, results);
                    if (difference == null)
                        results.Passed.Add(one.Name);
                    else
                        results.Failed.Add((one.Name, difference));
                }
                catch (LatennException problem) when (EndsTheRun(problem.Code))
                {
                    results.Error = problem;
                    Console.Error.WriteLine($"{problem.Code}: {problem.Message}");
                    return CannotLoad;
                }
                catch (Exception problem)
                {
                    results.Failed.Add((one.Name, $"{problem.GetType().Name}: {problem.Message}"));
                }
            }
            if (results.Passed.Count + results.Failed.Count == 0)
                results.Failed.Add(("(no case)", "No case was run: the file holds none, or none has the name asked for."));
            results.SetLibraries();
            results.SetAssembly();
            return results.Failed.Count == 0 ? Passed : Failed;
        }

        private static bool EndsTheRun(LatennCode code) =>
            code == LatennCode.CoreUnavailable || code == LatennCode.BackendMissing
            || code == LatennCode.BackendUnusable || code == LatennCode.RuntimeUnavailable;
    }

    /// <summary>The command line.</summary>
    internal sealed class Arguments
    {
        public string Cases { get; private set; } = "";

        public string Output { get; private set; } = "";

        public string? PathContains { get; private set; }

        /// <summary>How many cases to compute, spread evenly over all; 0 computes all.</summary>
        public int Sample { get; private set; }

        /// <summary>How many threads run all cases.</summary>
        public int Threads { get; private set; } = 1;

        /// <summary>A library that is opened before anything else.</summary>
        public string? Preload { get; private set; }

        public string? RuntimePath { get; private set; }

        public string? RuntimeMinimum { get; private set; }

        /// <summary>The cases to compute: those of the name asked for, and of these a sample, the first one in it.</summary>
        public IReadOnlyList<Case> Chosen(IEnumerable<Case> cases)
        {
            List<Case> named = cases.Where(one => PathContains == null || one.Name.IndexOf(PathContains, StringComparison.Ordinal) >= 0).ToList();
            if (Sample == 0 || Sample >= named.Count)
                return named;
            return Enumerable.Range(0, Sample).Select(i => named[(int)((long)i * named.Count / Sample)]).ToList();
        }

        /// <summary>Null when the line is not as the usage says.</summary>
        public static Arguments? Parse(string[] line)
        {
            if (line.Length < 2 || line.Length % 2 != 0)
                return null;
            var given = new Arguments { Cases = line[0], Output = line[1] };
            for (int i = 2; i < line.Length; i += 2)
            {
                switch (line[i])
                {
                    case "--path-contains": given.PathContains = line[i + 1]; break;
                    case "--sample" when int.TryParse(line[i + 1], out int sample) && sample > 0: given.Sample = sample; break;
                    case "--threads" when int.TryParse(line[i + 1], out int threads) && threads > 0: given.Threads = threads; break;
                    case "--preload": given.Preload = line[i + 1]; break;
                    case "--runtime-path": given.RuntimePath = line[i + 1]; break;
                    case "--runtime-minimum": given.RuntimeMinimum = line[i + 1]; break;
                    default: return null;
                }
            }
            return given;
        }
    }

    /// <summary>What happened, and its JSON.</summary>
    internal sealed class Results
    {
        public List<string> Passed { get; } = new List<string>();

        public List<(string Name, string Message)> Failed { get; } = new List<(string, string)>();

        public List<string> Warnings { get; } = new List<string>();

        /// <summary>The exit status that these results ask for.</summary>
        public int Code { get; set; }

        public string Report { get; set; } = "";

        public string Backend { get; set; } = "";

        public LatennException? Error { get; set; }

        private static readonly string[] Ours = { "latenn", "onnxruntime", "openvino", "litert" };

        private string _assembly = "";
        private string _framework = "";
        private IReadOnlyList<string> _libraries = Array.Empty<string>();

        /// <summary>The libraries in this process whose name holds latenn or a runtime's.</summary>
        public void SetLibraries()
        {
            IEnumerable<string> files = File.Exists("/proc/self/maps")
                ? File.ReadLines("/proc/self/maps").Select(line => line.IndexOf('/') < 0 ? "" : line.Substring(line.IndexOf('/')))
                : System.Diagnostics.Process.GetCurrentProcess().Modules.Cast<System.Diagnostics.ProcessModule>().Select(module => module.FileName ?? "");
            _libraries = files
                .Where(file => IsLibrary(Path.GetFileName(file)))
                .Distinct().OrderBy(file => file, StringComparer.Ordinal).ToList();
        }

        /// <summary>Which of the package's assemblies is here. Within a program it has no file of its own.</summary>
        public void SetAssembly()
        {
            Assembly assembly = typeof(Model).Assembly;
            _assembly = assembly.Location;
            _framework = assembly.GetCustomAttribute<TargetFrameworkAttribute>()?.FrameworkName ?? "";
        }

        private static bool IsLibrary(string name) =>
            Ours.Any(word => name.IndexOf(word, StringComparison.OrdinalIgnoreCase) >= 0)
            && (name.EndsWith(".so", StringComparison.Ordinal) || name.IndexOf(".so.", StringComparison.Ordinal) >= 0
                || name.EndsWith(".dylib", StringComparison.Ordinal) || name.EndsWith(".dll", StringComparison.OrdinalIgnoreCase));

        public void Write(string path)
        {
            string report = Error != null ? Error.Report : Report;
            XElement document = Json.Object(
                Json.Named("report", report.Length > 0 ? Json.Parse(report) : Json.Null()),
                Json.Named("backend", Json.Text(Backend)),
                Json.Named("passed", Json.Texts(Passed)),
                Json.Named("failed", Json.Array(Failed.Select(one => Json.Object(
                    Json.Named("name", Json.Text(one.Name)), Json.Named("message", Json.Text(one.Message)))))),
                Json.Named("libraries", Json.Texts(_libraries)),
                Json.Named("assembly", Json.Object(
                    Json.Named("path", Json.Text(_assembly)), Json.Named("framework", Json.Text(_framework)))),
                Json.Named("warnings", Json.Texts(Warnings)));
            if (Error != null)
            {
                document.Add(Json.Named("error", Json.Object(
                    Json.Named("code", Json.Text(Error.Code.ToString())), Json.Named("message", Json.Text(Error.Message)))));
            }
            string aside = path + ".part";
            Json.Write(document, aside);
            if (File.Exists(path))
                File.Delete(path);
            File.Move(aside, path);
        }
    }
}
