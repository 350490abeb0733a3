using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

namespace Latenn
{
    /// <summary>Runs with options, and what else a model gives besides outputs.</summary>
    public sealed partial class Model
    {
        /// <summary>The metadata of the model, as JSON: producer_name, graph_name, domain, description,
        /// graph_description, version, and custom, an object.</summary>
        /// <exception cref="LatennException">The backend does not give it.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public string ReadMetadata()
        {
            Native.ModelMetadata(_handle, out IntPtr json).Check();
            return Runtime.Take(json);
        }

        /// <summary>Ends the profile that the backend option "profile" began, and gives the path of the file.</summary>
        /// <exception cref="LatennException">There is no profile.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public string EndProfile()
        {
            Native.EndProfile(_handle, out IntPtr path).Check();
            return Runtime.Take(path);
        }

        /// <summary>What runs get besides their inputs. To be disposed of.</summary>
        /// <param name="outputs">The outputs that are wanted; null or none for all.</param>
        /// <param name="options">Options for the backend. Those of ONNX Runtime: tag, log_severity_level, lora_adapter (a
        /// path; lora_adapter.NAME for several), and run config entries.</param>
        /// <exception cref="LatennException">An output or an option is unknown.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public RunOptions CreateRunOptions(IEnumerable<string>? outputs = null, IEnumerable<KeyValuePair<string, string>>? options = null)
        {
            List<string> wanted = outputs?.ToList() ?? new List<string>();
            List<KeyValuePair<string, string>> rows = wanted.ConvertAll(name => new KeyValuePair<string, string>("output", name));
            if (options != null)
                rows.AddRange(options);
            using (var arena = new Arena())
            {
                IntPtr table = OptionsMarshal.Pairs(rows, arena, nameof(options));
                Native.RunCreate(_handle, table, new UIntPtr((uint)rows.Count), out RunHandle run).Check();
                return new RunOptions(run, wanted);
            }
        }

        /// <summary>Runs the model once, with options.</summary>
        /// <param name="inputs">A tensor for each of <see cref="Inputs"/>, by name.</param>
        /// <param name="options">Of this model; null for none.</param>
        /// <returns>The outputs that are wanted, in the model's order when enumerated. They own their memory.</returns>
        /// <exception cref="LatennException">An input is unknown, missing or does not fit, the runtime failed, or the run
        /// was cancelled.</exception>
        /// <exception cref="ObjectDisposedException">The model or the options were disposed.</exception>
        public IReadOnlyDictionary<string, Tensor> Run(IReadOnlyDictionary<string, Tensor> inputs, RunOptions? options)
        {
            if (inputs == null)
                throw new ArgumentNullException(nameof(inputs));
            // The arena comes first: the context, which looks into it, ends before it does.
            using (var arena = new Arena())
            using (ContextHandle context = ContextHandle.Create(_handle))
            {
                Compute(context, arena, inputs, options);
                return Collect(context, options);
            }
        }

        /// <summary>Runs the model once, on a thread of the pool, with options.</summary>
        /// <param name="inputs">As for <see cref="RunAsync(IReadOnlyDictionary{string, Tensor}, CancellationToken)"/>.</param>
        /// <param name="options">Of this model; they must not be disposed until the task ends.</param>
        /// <param name="cancellationToken">Cancels the options, and with them every run that uses them.</param>
        /// <returns>The outputs that are wanted. What a run throws, the task holds.</returns>
        public Task<IReadOnlyDictionary<string, Tensor>> RunAsync(IReadOnlyDictionary<string, Tensor> inputs, RunOptions options, CancellationToken cancellationToken = default)
        {
            if (inputs == null)
                throw new ArgumentNullException(nameof(inputs));
            if (options == null)
                throw new ArgumentNullException(nameof(options));
            return Task.Run(() => RunUntil(inputs, options, cancellationToken), cancellationToken);
        }

        private IReadOnlyDictionary<string, Tensor> RunUntil(IReadOnlyDictionary<string, Tensor> inputs, RunOptions options, CancellationToken cancellationToken)
        {
            using (cancellationToken.Register(options.TryCancel))
            {
                try
                {
                    return Run(inputs, options);
                }
                catch (LatennException problem) when (problem.Code == LatennCode.Cancelled && cancellationToken.IsCancellationRequested)
                {
                    throw new OperationCanceledException(problem.Message, problem, cancellationToken);
                }
            }
        }

        private IReadOnlyDictionary<string, Tensor> RunUntil(IReadOnlyDictionary<string, Tensor> inputs, CancellationToken cancellationToken)
        {
            using (RunOptions options = CreateRunOptions())
                return RunUntil(inputs, options, cancellationToken);
        }
    }
}
