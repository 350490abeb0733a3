using System;
using System.Collections.Generic;

namespace Latenn
{
    /// <summary>
    /// Inputs and outputs that stay bound from run to run: nothing is copied, and in a loop over bound values nothing is
    /// allocated. It is used by one thread at a time; a model has as many as are wanted.
    /// </summary>
    public sealed class Binding : IDisposable
    {
        private readonly Model _model;
        private readonly ContextHandle _context;
        private readonly Value?[] _inputs;
        private readonly Value?[] _outputs;
        private readonly Value?[] _results;
        private readonly List<Fed> _fed = new List<Fed>();
        private bool _ran;

        internal Binding(Model model, ContextHandle context)
        {
            _model = model;
            _context = context;
            _inputs = new Value?[model.Inputs.Count];
            _outputs = new Value?[model.Outputs.Count];
            _results = new Value?[model.Outputs.Count];
        }

        /// <summary>An output of the last run: the bound value, else a new one of the runtime's memory, which is not copied
        /// and stays good after the next run.</summary>
        /// <exception cref="InvalidOperationException">There was no run yet.</exception>
        /// <exception cref="LatennException">The model has no such output, or it cannot be taken.</exception>
        public Value this[string output]
        {
            get
            {
                int index = _model.OutputIndex(output);
                if (!_ran)
                    throw new InvalidOperationException("There are no outputs: Run has not succeeded yet.");
                Value? known = _results[index];
                if (known != null)
                    return known;
                Native.TakeOutput(_context, At(index), out ValueHandle handle).Check();
                return _results[index] = new Value(handle);
            }
        }

        /// <summary>Has an input read from there in every run, until another value or null is bound.</summary>
        /// <exception cref="LatennException">The model has no such input, or the value does not fit it.</exception>
        public void BindInput(string name, Value? value)
        {
            int index = _model.InputIndex(name);
            StatusHandle.Check(value == null
                ? Native.UnbindInput(_context, At(index), IntPtr.Zero)
                : Native.BindInput(_context, At(index), value.Handle));
            _inputs[index] = value;
            if (value == null)
                _fed.RemoveAll(fed => fed.Input == index);
        }

        /// <summary>Has an output written there in every run, until another value or null is bound.</summary>
        /// <exception cref="LatennException">The model has no such output, or the value does not fit it.</exception>
        public void BindOutput(string name, Value? value)
        {
            int index = _model.OutputIndex(name);
            StatusHandle.Check(value == null
                ? Native.UnbindOutput(_context, At(index), IntPtr.Zero)
                : Native.BindOutput(_context, At(index), value.Handle));
            _outputs[index] = value;
            if (value == null)
                _fed.RemoveAll(fed => fed.Output == index);
        }

        /// <summary>After every run the values bound to this output and this input change places: what was computed is what
        /// the next run reads.</summary>
        /// <exception cref="LatennException">The model has no such output or input.</exception>
        /// <exception cref="InvalidOperationException">Nothing is bound to one of them.</exception>
        public void Feed(string output, string input)
        {
            var fed = new Fed(_model.OutputIndex(output), _model.InputIndex(input));
            if (_outputs[fed.Output] == null || _inputs[fed.Input] == null)
                throw new InvalidOperationException($"Bind a value to the output '{output}' and one to the input '{input}' first: they will change places.");
            _fed.Add(fed);
        }

        /// <summary>Runs the model on what is bound.</summary>
        /// <exception cref="LatennException">An input is not bound, or the runtime failed.</exception>
        /// <exception cref="ObjectDisposedException">The binding was disposed.</exception>
        public void Run()
        {
            _ran = false;
            StatusHandle.Check(Native.Step(_context));
            Finish(null);
        }

        /// <summary>Runs the model on what is bound, with options.</summary>
        /// <exception cref="LatennException">An input is not bound, the runtime failed, or the run was cancelled.</exception>
        /// <exception cref="ObjectDisposedException">The binding or the options were disposed.</exception>
        public void Run(RunOptions options)
        {
            if (options == null)
                throw new ArgumentNullException(nameof(options));
            _ran = false;
            Native.ComputeWith(_context, options.Handle).Check();
            Finish(options);
        }

        /// <summary>Ends the binding. Values stay as they are.</summary>
        public void Dispose() => _context.Dispose();

        private static UIntPtr At(int index) => new UIntPtr((uint)index);

        private void Finish(RunOptions? options)
        {
            _ran = true;
            for (int i = 0; i < _results.Length; i++)
                _results[i] = Wants(options, i) ? _outputs[i] : null;
            foreach (Fed fed in _fed)
            {
                if (Wants(options, fed.Output))
                    Swap(fed);
            }
        }

        private bool Wants(RunOptions? options, int output) => options == null || options.Wants(_model.Outputs[output].Name);

        private void Swap(Fed fed)
        {
            Value read = _inputs[fed.Input]!;
            Value written = _outputs[fed.Output]!;
            StatusHandle.Check(Native.BindInput(_context, At(fed.Input), written.Handle));
            StatusHandle.Check(Native.BindOutput(_context, At(fed.Output), read.Handle));
            _inputs[fed.Input] = written;
            _outputs[fed.Output] = read;
        }

        private readonly struct Fed
        {
            public Fed(int output, int input)
            {
                Output = output;
                Input = input;
            }

            public int Output { get; }

            public int Input { get; }
        }
    }
}
