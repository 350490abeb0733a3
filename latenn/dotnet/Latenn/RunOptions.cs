using System;
using System.Collections.Generic;

namespace Latenn
{
    /// <summary>What runs get besides their inputs, and a way to end them. Made by
    /// <see cref="Model.CreateRunOptions"/>; it may serve many runs of that model, also at the same time.</summary>
    public sealed class RunOptions : IDisposable
    {
        private readonly HashSet<string> _outputs;

        internal RunOptions(RunHandle handle, IEnumerable<string> outputs)
        {
            Handle = handle;
            _outputs = new HashSet<string>(outputs, StringComparer.Ordinal);
        }

        internal RunHandle Handle { get; }

        /// <summary>Ends the runs that use these options, from any thread; no other begins. They throw
        /// <see cref="LatennCode.Cancelled"/>.</summary>
        /// <exception cref="LatennException"><see cref="LatennCode.Unsupported"/>: the backend cannot end a run that has
        /// begun. None begins all the same.</exception>
        /// <exception cref="ObjectDisposedException">The options were disposed.</exception>
        public void Cancel() => Native.RunCancel(Handle).Check();

        /// <summary>Ends the options; no run may use them any more.</summary>
        public void Dispose() => Handle.Dispose();

        internal void TryCancel() => Native.RunCancel(Handle).Dispose();

        internal bool Wants(string output) => _outputs.Count == 0 || _outputs.Contains(output);
    }
}
