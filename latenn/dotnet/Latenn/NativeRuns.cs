using System;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Latenn
{
    /// <summary>What latenn.h has for the options of runs, and for texts of a model.</summary>
    internal static partial class Native
    {
        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_run_create")]
        public static extern StatusHandle RunCreate(ModelHandle model, IntPtr options, UIntPtr count, out RunHandle run);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_run_cancel")]
        public static extern StatusHandle RunCancel(RunHandle run);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_run_release")]
        public static extern void RunRelease(IntPtr run);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_compute_with")]
        public static extern StatusHandle ComputeWith(ContextHandle context, RunHandle run);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_model_metadata")]
        public static extern StatusHandle ModelMetadata(ModelHandle model, out IntPtr json);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_model_end_profile")]
        public static extern StatusHandle EndProfile(ModelHandle model, out IntPtr path);
    }

    /// <summary>A <c>latenn_run*</c>.</summary>
    internal sealed class RunHandle : SafeHandleZeroOrMinusOneIsInvalid
    {
        public RunHandle() : base(true)
        {
        }

        protected override bool ReleaseHandle()
        {
            Native.RunRelease(handle);
            return true;
        }
    }
}
