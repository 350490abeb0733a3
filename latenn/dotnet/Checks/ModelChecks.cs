using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Latenn;

namespace Checks
{
    /// <summary>Models over the synthetic core, which gives back what it was given.</summary>
    internal static class ModelChecks
    {
        public static void EveryTypeComesBackThroughNativeMemory()
        {
            foreach (ElementType type in Enum.GetValues(typeof(ElementType)).Cast<ElementType>())
            {
                if (type == ElementType.Undefined || type == ElementType.String)
                    continue;
                byte[] bytes = TensorChecks.Sample(type, 6);
                using Model model = Load($"ok {{}}\nx {(int)type} 2 3");
                Tensor result = model.Run(One("x", Tensor.FromBytes(type, bytes, 2, 3)))["x"];
                Expect.Equal(type, result.ElementType);
                Expect.Same(new long[] { 2, 3 }, result.Shape);
                Expect.Same(bytes, result.ToBytes());
            }
        }

        public static void TextsComeBackInAnyScript()
        {
            var texts = new[] { "", "héllo", "日本語", "\U0001F600", "a\0b", "" };
            using Model model = Load("ok {}\nx 8 n");
            Expect.Same(texts, model.Run(One("x", Tensor.Create(texts, 6)))["x"].GetData<string>());
            Expect.Equal(0, model.Run(One("x", Tensor.Create(new string[0], 0)))["x"].GetData<string>().Length);
        }

        public static void ScalarsAndEmptyTensorsComeBack()
        {
            using Model model = Load("ok {}\nx 1");
            Expect.Same(new[] { 5f }, model.Run(One("x", Tensor.Create(new[] { 5f })))["x"].GetData<float>());
            Expect.Same(new long[] { 0, 3 }, model.Run(One("x", Tensor.Create(new float[0], 0, 3)))["x"].Shape);
        }

        public static void PortsTellNameTypeShapeAndOpenDimensions()
        {
            using Model model = Load("ok {}\nbatch 11 n 4\nother 7\nany 1 *");
            Expect.Same(new[] { "batch", "other", "any" }, model.Inputs.Select(port => port.Name));
            Expect.Equal(ElementType.Float64, model.Inputs[0].ElementType);
            Expect.Same(new long[] { -1, 4 }, model.Inputs[0].Shape);
            Expect.Same(new[] { "n", "" }, model.Inputs[0].Dimensions);
            Expect.Equal(0, model.Inputs[1].Shape.Count);
            Expect.Same(new[] { 2, 0, -1 }, model.Inputs.Select(port => port.Rank));
            Expect.Equal(0, model.Inputs[2].Shape.Count);
            Expect.Equal("any: Float32[...]", model.Inputs[2].ToString());
            Expect.Equal("echo", model.Backend);
        }

        public static void TheCoreChoosesAmongTheBackendsThatAreThereUnlessOneIsNamed()
        {
            string folder = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());
            Directory.CreateDirectory(folder);
            try
            {
                foreach (string name in new[] { "b", "a", "" })
                {
                    foreach (string file in new[] { "liblatenn_backend_{0}.so", "liblatenn_backend_{0}.dylib", "latenn_backend_{0}.dll" })
                        File.WriteAllText(Path.Combine(folder, string.Format(System.Globalization.CultureInfo.InvariantCulture, file, name)), "");
                }
                var options = new LoadOptions { BackendDirectories = { folder, Path.Combine(folder, "nowhere"), folder } };
                using Model several = Load("ok {}\nx 1", options);
                Expect.Equal("a,b,", several.Backend);
                options.Backend = "b";
                using Model named = Load("ok {}\nx 1", options);
                Expect.Equal("b", named.Backend);
            }
            finally
            {
                Directory.Delete(folder, recursive: true);
            }
        }

        public static void AStreamIsReadToItsEndAndLeftOpen()
        {
            using var stream = new MemoryStream(Encoding.UTF8.GetBytes("ok {}\nx 1"));
            using Model model = Model.Load(stream);
            Expect.Equal("x", model.Inputs[0].Name);
            Expect.Equal(true, stream.CanRead);
            Expect.Throws<ArgumentNullException>(() => Model.Load((Stream)null!));
        }

        public static void ARunInTheBackgroundGivesWhatARunGivesAndHoldsWhatItThrows()
        {
            using Model model = Load("ok {}\nx 1");
            Task<IReadOnlyDictionary<string, Tensor>> task = model.RunAsync(One("x", Tensor.Create(new[] { 5f })));
            Expect.Same(new[] { 5f }, task.GetAwaiter().GetResult()["x"].GetData<float>());
            Expect.Throws<LatennException>(() => model.RunAsync(One("y", Tensor.Create(new[] { 5f }))).GetAwaiter().GetResult());
            Expect.Throws<ArgumentNullException>(() => model.RunAsync(null!));
            using var cancelled = new CancellationTokenSource();
            cancelled.Cancel();
            Expect.Throws<TaskCanceledException>(() => model.RunAsync(One("x", Tensor.Create(new[] { 5f })), cancelled.Token).GetAwaiter().GetResult());
        }

        public static void ABindingSaysWhatItLacksBeforeAnyNativeCall()
        {
            Model model = Load("ok {}\nx 1");
            using (Binding binding = model.Bind())
            {
                Expect.Contains("no output 'y'; it has x: Float32", Expect.Throws<LatennException>(() => _ = binding["y"]).Message);
                Expect.Contains("Run has not succeeded", Expect.Throws<InvalidOperationException>(() => _ = binding["x"]).Message);
                Expect.Contains("no input 'y'", Expect.Throws<LatennException>(() => binding.BindInput("y", null)).Message);
                Expect.Contains("Bind a value to the output 'x'", Expect.Throws<InvalidOperationException>(() => binding.Feed("x", "x")).Message);
            }
            Expect.Throws<ArgumentException>(() => Latenn.Value.Wrap(model, new bool[1], 1));
            Expect.Throws<ArgumentException>(() => Latenn.Value.Wrap(model, new Guid[1], 1));
            Expect.Throws<ArgumentNullException>(() => Latenn.Value.Wrap(model, (float[])null!, 1));
            Expect.Throws<ArgumentNullException>(() => Latenn.Value.Create(null!, ElementType.Float32, 1));
            model.Dispose();
            Expect.Throws<ObjectDisposedException>(() => model.Bind());
        }

        public static void OutputsComeInTheModelsOrder()
        {
            using Model model = Load("ok {}\nz 1\na 1\nm 1");
            var inputs = new Dictionary<string, Tensor> { ["a"] = Value(1), ["m"] = Value(2), ["z"] = Value(3) };
            IReadOnlyDictionary<string, Tensor> outputs = model.Run(inputs);
            Expect.Same(new[] { "z", "a", "m" }, outputs.Keys);
            Expect.Same(new[] { 3f, 1f, 2f }, outputs.Values.Select(tensor => tensor.GetData<float>()[0]));
            Expect.Contains("it has z, a, m", Expect.Throws<KeyNotFoundException>(() => _ = outputs["q"]).Message);
        }

        public static void AnUnknownMissingOrUnfitInputIsNamed()
        {
            using Model model = Load("ok {}\nx 1 2");
            LatennException unknown = Expect.Throws<LatennException>(() => model.Run(One("y", Value(1))));
            Expect.Equal(LatennCode.InvalidArgument, unknown.Code);
            Expect.Contains("no input 'y'; it has x: Float32[2]", unknown.Message);
            Expect.Contains("not set", Expect.Throws<LatennException>(() => model.Run(new Dictionary<string, Tensor>())).Message);
            Expect.Contains("another type", Expect.Throws<LatennException>(() => model.Run(One("x", Tensor.Create(new long[2], 2)))).Message);
        }

        /// <summary>HIDDEN has the code points, in hexadecimal.</summary>
        public static void TextFromOutsideIsShownAndNotObeyed()
        {
            using Model model = Load("ok {}\nx 1 2");
            string Shown(string name) => Expect.Throws<LatennException>(() => model.Run(One(name, Value(1)))).Message;
            Expect.Contains("no input 'größe 名前 😀\n'", Shown("größe 名前 😀\n"));
            Expect.Contains("no input 'a\uFFFD\uFFFDb'", Shown("a\uDFFF\uD800b"));
            foreach (string code in Environment.GetEnvironmentVariable("HIDDEN")!.Split(' '))
                Expect.Contains("no input '<\uFFFD>'", Shown($"<{char.ConvertFromUtf32(Convert.ToInt32(code, 16))}>"));
        }

        public static void AFailureCarriesCodeMessageAndReport()
        {
            var options = new LoadOptions { RuntimePath = "/näme with space", RuntimeMinimum = "1.20" };
            LatennException problem = Expect.Throws<LatennException>(() => Load("fail 4 {\"attempts\": []}", options));
            Expect.Equal(LatennCode.RuntimeUnavailable, problem.Code);
            Expect.Contains("naïve", problem.Message);
            Expect.Contains("path /näme with space, minimum 1.20, advice onnxruntime: dotnet add package Microsoft.ML.OnnxRuntime", problem.Message);
            Expect.Equal("{\"attempts\": []}", problem.Report);
        }

        public static void HostFoldersAreOffered()
        {
            LatennException problem = Expect.Throws<LatennException>(() => Load("fail 4 {}"));
            if (problem.Message.Contains("naïve, 0 folders", StringComparison.Ordinal))
                throw new InvalidOperationException(problem.Message);
        }

        public static void AModelIsLoadedFromAPathInAnyScript()
        {
            string path = Path.Combine(Path.GetTempPath(), $"modèle 模型 {Guid.NewGuid():N}.txt");
            File.WriteAllText(path, "ok {}\nx 1");
            try
            {
                using Model model = Model.Load(path);
                Expect.Equal("x", model.Inputs[0].Name);
            }
            finally
            {
                File.Delete(path);
            }
            Expect.Equal(LatennCode.IO, Expect.Throws<LatennException>(() => Model.Load(path)).Code);
        }

        public static void TextThatCHasNoFormOfIsRefused()
        {
            Expect.Throws<ArgumentException>(() => Model.Load("a\0b"));
            Expect.Throws<ArgumentException>(() => Model.Load("\ud800"));
            foreach (string text in new[] { "a\0b", "\0", "\ud800" })
            {
                Expect.Refused(nameof(LoadOptions.Backend), new LoadOptions { Backend = text });
                Expect.Refused(nameof(LoadOptions.Device), new LoadOptions { Device = text });
                Expect.Refused(nameof(LoadOptions.RuntimePath), new LoadOptions { RuntimePath = text });
                Expect.Refused(nameof(LoadOptions.RuntimeMinimum), new LoadOptions { RuntimeMinimum = text });
                Expect.Refused(nameof(LoadOptions.BackendDirectories), new LoadOptions { BackendDirectories = { text } });
                Expect.Refused(nameof(LoadOptions.RuntimeDirectories), new LoadOptions { RuntimeDirectories = { text } });
                Expect.Refused(nameof(LoadOptions.BackendOptions), new LoadOptions { BackendOptions = { [text] = "1" } });
                Expect.Refused(nameof(LoadOptions.BackendOptions), new LoadOptions { BackendOptions = { ["threads"] = text } });
            }
        }

        public static void AnEmptyChoiceIsNotTakenForNone()
        {
            Expect.Refused(nameof(LoadOptions.Backend), new LoadOptions { Backend = "" });
            Expect.Refused(nameof(LoadOptions.Device), new LoadOptions { Device = "" });
            Expect.Refused(nameof(LoadOptions.RuntimePath), new LoadOptions { RuntimePath = "" });
            Expect.Refused(nameof(LoadOptions.RuntimeMinimum), new LoadOptions { RuntimeMinimum = "" });
            Expect.Equal("path", Expect.Throws<ArgumentException>(() => Model.Load("")).ParamName);
            Load("ok {}", new LoadOptions { BackendOptions = { ["log"] = "" } }).Dispose();
        }

        public static void ADisposedModelRefusesToRun()
        {
            Model model = Load("ok {}\nx 1");
            model.Dispose();
            model.Dispose();
            Expect.Throws<ObjectDisposedException>(() => model.Run(One("x", Value(1))));
        }

        public static void ALogGetsEachLineAndMayThrow()
        {
            var seen = new List<string>();
            Action<LogSeverity, string, string> log = (severity, category, message) => seen.Add($"{severity} {category} {message}");
            Action<LogSeverity, string, string> broken = (severity, category, message) => throw new InvalidOperationException(message);
            byte[] model = System.Text.Encoding.UTF8.GetBytes("ok {}");
            for (int i = 0; i < 2; i++)
                Model.Load(model, new LoadOptions { Log = log }).Dispose();
            Model.Load(model, new LoadOptions { Log = broken }).Dispose();
            Model.Load(model).Dispose();
            Expect.Equal("Warning echo naïve, Warning echo naïve", string.Join(", ", seen));
        }

        public static void AWarningIsRaisedOnceForEachText()
        {
            var seen = new List<string>();
            EventHandler<RuntimeWarningEventArgs> handler = (sender, warning) => seen.Add(warning.Message);
            Runtime.Warning += handler;
            try
            {
                string first = "ok {\"nested\": {\"warning\": \"no\"}, \"list\": [\"warning\", \"x\"], \"warning\": \"two \\u0022images\\u0022\\n\"}";
                Load(first).Dispose();
                Load(first).Dispose();
                Load("ok {\"warning\": \"\"}").Dispose();
                Load("ok {\"warning\":\"newer\"}").Dispose();
                Load("ok not json \"").Dispose();
            }
            finally
            {
                Runtime.Warning -= handler;
            }
            Expect.Same(new[] { "two \"images\"\n", "newer" }, seen);
        }

        public static void TheRuntimeReportIsGivenOnFailureToo()
        {
            Expect.Contains("needs no runtime", Runtime.Report());
            Expect.Contains("needs no runtime", Runtime.Report(new LoadOptions { RuntimePath = "/nowhere" }));
            Expect.Equal("0.0.0-echo", Runtime.Version);
        }

        public static void ManyThreadsShareAModelWhileMemoryMoves()
        {
            using Model model = Load("ok {}\nx 7 n");
            var problems = new ConcurrentBag<string>();
            using var done = new CancellationTokenSource();
            Task collector = Task.Run(() =>
            {
                while (!done.IsCancellationRequested)
                    GC.Collect(2, GCCollectionMode.Forced, true, true);
            });
            Parallel.For(0, 400, new ParallelOptions { MaxDegreeOfParallelism = 4 }, i =>
            {
                long[] data = Enumerable.Range(i, 100 + i).Select(value => (long)value).ToArray();
                Tensor result = model.Run(One("x", Tensor.Create(data, data.Length)))["x"];
                if (!result.GetData<long>().SequenceEqual(data))
                    problems.Add($"run {i} got other numbers");
            });
            done.Cancel();
            collector.Wait();
            Expect.Same(Array.Empty<string>(), problems);
        }

        public static void DisposingWhileOthersRunEndsInResultsOrRefusals()
        {
            for (int round = 0; round < 20; round++)
            {
                Model model = Load("ok {}\nx 1");
                Task[] runs = Enumerable.Range(0, 4).Select(_ => Task.Run(() =>
                {
                    try
                    {
                        for (int i = 0; i < 200; i++)
                            Expect.Same(new[] { 2f }, model.Run(One("x", Value(2)))["x"].GetData<float>());
                    }
                    catch (ObjectDisposedException)
                    {
                        // The error of a run that comes too late.
                    }
                })).ToArray();
                Thread.Yield();
                model.Dispose();
                Task.WaitAll(runs);
            }
        }

        private static Model Load(string text, LoadOptions? options = null) => Model.Load(Encoding.UTF8.GetBytes(text), options);

        private static Tensor Value(float value) => Tensor.Create(new[] { value });

        private static Dictionary<string, Tensor> One(string name, Tensor tensor) => new Dictionary<string, Tensor> { [name] = tensor };
    }
}
