using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Latenn;

namespace Options
{
    /// <summary>Each option once. The argument is a folder with the models, the adapter and the plugin's library.</summary>
    internal static class Program
    {
        private static readonly float[] X = { -1, 2, 3 };
        private static string _folder = "";

        private static int Main(string[] arguments)
        {
            _folder = arguments[0];
            var checks = new Action[] { Plugin, NoProvider, FreeDimension, Profile, Files, Metadata, Outputs, BoundOutputs, Cancel, CancelByToken, Adapter, CustomOperators, Refusals };
            foreach (Action check in checks)
            {
                check();
                Console.WriteLine("passed " + check.Method.Name);
            }
            return 0;
        }

        private static void Plugin()
        {
            using Model model = Load("rectified", ("plugin_ep.tiny", Place("libtiny_ep.so")), ("ep", "TinyExecutionProvider"), ("session.disable_cpu_ep_fallback", "1"));
            Same(new float[] { 0, 2, 3 }, model.Run(Inputs("x"))["y"]);
        }

        private static void NoProvider() =>
            Throws(LatennCode.Unsupported, "The execution provider \"XNNPACK\" cannot be had", () => Load("rectified", ("ep", "XNNPACK")));

        private static void FreeDimension()
        {
            using Model model = Load("identity", ("free_dimension.n", "3"));
            Equal(3L, model.Inputs[0].Shape[0]);
        }

        private static void Profile()
        {
            using Model model = Load("identity", ("profile", Place("profile")));
            model.Run(Inputs("x"));
            Equal(true, File.ReadAllText(model.EndProfile()).Contains("model_run", StringComparison.Ordinal));
            Throws(LatennCode.InvalidArgument, "has no profile", () => model.EndProfile());
        }

        private static void Files()
        {
            var options = new LoadOptions { Files = { ["weights.bin"] = new byte[] { 0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64 } } };
            using Model model = Model.Load(File.ReadAllBytes(Place("outside.onnx")), options);
            Same(new float[] { 0, 4, 6 }, model.Run(Inputs("x"))["y"]);
        }

        private static void Metadata()
        {
            using Model model = Load("described");
            string json = model.ReadMetadata();
            Equal(true, json.Contains("\"producer_name\": \"tests\"", StringComparison.Ordinal) && json.Contains("välue", StringComparison.Ordinal));
        }

        private static void Outputs()
        {
            using Model model = Load("add");
            using RunOptions options = model.CreateRunOptions(new[] { "sum" });
            IReadOnlyDictionary<string, Tensor> outputs = model.Run(Inputs("left", "right"), options);
            Equal("sum", string.Join(",", outputs.Keys));
            Same(new float[] { -2, 4, 6 }, outputs["sum"]);
            Equal(2, model.Run(Inputs("left", "right")).Count);
        }

        private static void BoundOutputs()
        {
            using Model model = Load("add");
            using RunOptions options = model.CreateRunOptions(new[] { "sum" });
            using Binding binding = model.Bind();
            using Value x = Value.Wrap(model, X, 3);
            binding.BindInput("left", x);
            binding.BindInput("right", x);
            binding.Run(options);
            Same(new float[] { -2, 4, 6 }, binding["sum"].ToTensor());
            Throws(LatennCode.InvalidArgument, "not among the outputs that the run names", () => _ = binding["twice"]);
            binding.Run();
            Same(new float[] { -4, 8, 12 }, binding["twice"].ToTensor());
        }

        private static void Cancel()
        {
            using Model model = Load("endless");
            using RunOptions options = model.CreateRunOptions(null, new Dictionary<string, string> { ["tag"] = "mine" });
            using var timer = new Timer(_ => options.Cancel(), null, 300, Timeout.Infinite);
            var watch = Stopwatch.StartNew();
            Throws(LatennCode.Cancelled, "The run was cancelled.", () => model.Run(Zero(), options));
            Throws(LatennCode.Cancelled, "The run was cancelled.", () => model.Run(Zero(), options));
            Equal(true, watch.Elapsed < TimeSpan.FromSeconds(30));
        }

        private static void CancelByToken()
        {
            using Model model = Load("endless");
            using var source = new CancellationTokenSource(300);
            Task task = model.RunAsync(Zero(), source.Token);
            try
            {
                task.Wait();
            }
            catch (AggregateException problem) when (problem.InnerException is TaskCanceledException)
            {
            }
            Equal(TaskStatus.Canceled, task.Status);
        }

        private static void Adapter()
        {
            using Model model = Load("adapted");
            using RunOptions options = model.CreateRunOptions(null, new Dictionary<string, string> { ["lora_adapter"] = Place("a.onnx_adapter") });
            Same(new float[] { 99, 202, 303 }, model.Run(Inputs("x"), options)["y"]);
            Same(X, model.Run(Inputs("x"))["y"]);
        }

        private static void Refusals()
        {
            using Model model = Load("identity");
            Throws(LatennCode.InvalidArgument, "no output \"z\"", () => model.CreateRunOptions(new[] { "z" }));
            Throws(LatennCode.InvalidArgument, "The option \"speed\" of a run is not known", () => model.CreateRunOptions(null, new Dictionary<string, string> { ["speed"] = "1" }));
            using Model other = Load("identity");
            using RunOptions options = other.CreateRunOptions();
            Throws(LatennCode.InvalidArgument, "for another model", () => model.Run(Inputs("x"), options));
        }

        private static void CustomOperators()
        {
            Throws(LatennCode.ModelInvalid, "is not a registered function/op", () => Load("unwrapped"));
            Throws(LatennCode.ModelInvalid, "lacks the attribute version", () => Load("unwrapped", ("custom_op_library", Place("liblatenn_customop.so"))));
        }

        private static Model Load(string name, params (string Key, string Value)[] options)
        {
            var load = new LoadOptions();
            foreach ((string key, string value) in options)
                load.BackendOptions[key] = value;
            return Model.Load(Place(name + ".onnx"), load);
        }

        private static string Place(string name) => Path.Combine(_folder, name);

        private static Dictionary<string, Tensor> Inputs(params string[] names) => names.ToDictionary(name => name, _ => Tensor.Create(X, 3));

        private static Dictionary<string, Tensor> Zero() => new Dictionary<string, Tensor> { ["x"] = Tensor.Create(new float[1], Array.Empty<long>()) };

        private static void Same(float[] expected, Tensor actual) => Equal(string.Join(" ", expected), string.Join(" ", actual.GetData<float>()));

        private static void Equal<T>(T expected, T actual)
        {
            if (!EqualityComparer<T>.Default.Equals(expected, actual))
                throw new InvalidOperationException($"expected {expected}, got {actual}");
        }

        private static void Throws(LatennCode code, string says, Action action)
        {
            try
            {
                action();
            }
            catch (LatennException problem)
            {
                Equal(code, problem.Code);
                Equal(true, problem.Message.Contains(says, StringComparison.Ordinal));
                return;
            }
            throw new InvalidOperationException("nothing was thrown");
        }
    }
}
