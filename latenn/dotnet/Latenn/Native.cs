using System;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

// Nothing is looked up by a name that the linker can't read in the code, so it may remove what a program does not call.
[assembly: System.Reflection.AssemblyMetadata("IsTrimmable", "True")]
[assembly: System.Reflection.AssemblyMetadata("IsAotCompatible", "True")]

namespace Latenn
{
    /// <summary>The functions and structs of latenn.h, as they are; it decides nothing.</summary>
    internal static partial class Native
    {
        /// <summary>.NET adds prefix and suffix of the system, and searches the package's <c>runtimes/RID/native</c>.</summary>
        public const string Library = "latenn_core";

        /// <summary><c>LATENN_ABI</c> of the header that this file was written from.</summary>
        public const uint Abi = 1;

        private const CallingConvention C = CallingConvention.Cdecl;

        [StructLayout(LayoutKind.Sequential)]
        public struct TensorView
        {
            public int Type;
            public int Rank;
            public IntPtr Shape;
            public IntPtr Data;
            public UIntPtr Bytes;
            public IntPtr Offsets;
        }

        [StructLayout(LayoutKind.Sequential)]
        public struct PortView
        {
            public IntPtr Name;
            public int Type;
            public int Rank;
            public IntPtr Shape;
            public IntPtr Dimensions;
        }

        [StructLayout(LayoutKind.Sequential)]
        public struct Option
        {
            public IntPtr Key;
            public IntPtr Value;
        }

        [StructLayout(LayoutKind.Sequential)]
        public struct Options
        {
            public uint Size;
            public IntPtr Backend;
            public IntPtr Device;
            public IntPtr BackendDirectories;
            public UIntPtr BackendDirectoryCount;
            public IntPtr RuntimePath;
            public IntPtr RuntimeDirectories;
            public UIntPtr RuntimeDirectoryCount;
            public IntPtr RuntimeMinimum;
            public IntPtr RuntimeAdvice;
            public IntPtr BackendOptions;
            public UIntPtr BackendOptionCount;
            public IntPtr Weights;
            public UIntPtr WeightsSize;
            public IntPtr Log;
            public IntPtr LogUser;
            public IntPtr Files;
            public UIntPtr FileCount;
        }

        [StructLayout(LayoutKind.Sequential)]
        public struct Device
        {
            public int Type;
            public int Id;
        }

        /// <summary><c>LATENN_CPU</c>, and page-locked memory, which programs read as well.</summary>
        public const int Cpu = 1, CudaHost = 3;

        /// <summary>What ends memory that was lent to a value; any thread may call it.</summary>
        [UnmanagedFunctionPointer(C)]
        public delegate void ReleaseOwner(IntPtr owner);

        /// <summary>LOAD_WITH_ALTERED_SEARCH_PATH of Windows.</summary>
        public const uint SearchBesideTheLibrary = 8;

        [DllImport("kernel32", EntryPoint = "LoadLibraryExW", CharSet = CharSet.Unicode, ExactSpelling = true, SetLastError = true)]
        public static extern IntPtr LoadLibrary(string path, IntPtr reserved, uint flags);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_abi")]
        public static extern uint GetAbi();

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_version")]
        public static extern IntPtr GetVersion();

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_status_code")]
        public static extern int StatusCode(StatusHandle status);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_status_message")]
        public static extern IntPtr StatusMessage(StatusHandle status);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_status_report")]
        public static extern IntPtr StatusReport(StatusHandle status);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_status_release")]
        public static extern void StatusRelease(IntPtr status);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_load_path")]
        public static extern StatusHandle LoadPath(IntPtr path, ref Options options, out ModelHandle model);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_load_bytes")]
        public static extern StatusHandle LoadBytes(IntPtr bytes, UIntPtr size, ref Options options, out ModelHandle model);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_model_release")]
        public static extern void ModelRelease(IntPtr model);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_input_count")]
        public static extern UIntPtr InputCount(ModelHandle model);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_output_count")]
        public static extern UIntPtr OutputCount(ModelHandle model);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_input")]
        public static extern IntPtr Input(ModelHandle model, UIntPtr index);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_output")]
        public static extern IntPtr Output(ModelHandle model, UIntPtr index);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_model_backend")]
        public static extern IntPtr ModelBackend(ModelHandle model);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_model_report")]
        public static extern IntPtr ModelReport(ModelHandle model);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_runtime_report")]
        public static extern StatusHandle RuntimeReport(ref Options options, out IntPtr report);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_text_release")]
        public static extern void TextRelease(IntPtr text);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_context_create")]
        public static extern StatusHandle ContextCreate(ModelHandle model, out ContextHandle context);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_context_release")]
        public static extern void ContextRelease(IntPtr context);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_set_input")]
        public static extern StatusHandle SetInput(ContextHandle context, UIntPtr index, ref TensorView tensor);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_compute")]
        public static extern StatusHandle Compute(ContextHandle context);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_get_output")]
        public static extern StatusHandle GetOutput(ContextHandle context, UIntPtr index, out TensorView tensor);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_value_wrap")]
        public static extern StatusHandle ValueWrap(ModelHandle model, ref TensorView tensor, Device device, ReleaseOwner release, IntPtr owner, out ValueHandle value);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_value_create")]
        public static extern StatusHandle ValueCreate(ModelHandle model, int type, int rank, long[] shape, Device device, out ValueHandle value);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_value_tensor")]
        public static extern IntPtr ValueTensor(ValueHandle value);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_value_device")]
        public static extern Device ValueDevice(ValueHandle value);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_value_release")]
        public static extern void ValueRelease(IntPtr value);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_take_output")]
        public static extern StatusHandle TakeOutput(ContextHandle context, UIntPtr index, out ValueHandle value);

        // What every step of a loop calls gives its status bare: a handle for each would be garbage for each.

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_compute")]
        public static extern IntPtr Step(ContextHandle context);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_bind_input")]
        public static extern IntPtr BindInput(ContextHandle context, UIntPtr index, ValueHandle value);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_bind_input")]
        public static extern IntPtr UnbindInput(ContextHandle context, UIntPtr index, IntPtr none);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_bind_output")]
        public static extern IntPtr BindOutput(ContextHandle context, UIntPtr index, ValueHandle value);

        [DllImport(Library, CallingConvention = C, EntryPoint = "latenn_bind_output")]
        public static extern IntPtr UnbindOutput(ContextHandle context, UIntPtr index, IntPtr none);
    }

    /// <summary>A <c>latenn_status*</c>; invalid means success.</summary>
    internal sealed class StatusHandle : SafeHandleZeroOrMinusOneIsInvalid
    {
        public StatusHandle() : base(true)
        {
        }

        private StatusHandle(IntPtr status) : base(true) => SetHandle(status);

        /// <summary>Returns when a bare status says success, else throws what it says. Ends the status.</summary>
        /// <exception cref="LatennException">The status is a failure.</exception>
        public static void Check(IntPtr status)
        {
            if (status != IntPtr.Zero)
                new StatusHandle(status).Check();
        }

        /// <summary>Returns when the call succeeded, else throws what the status says. Ends the handle.</summary>
        /// <exception cref="LatennException">The status is a failure.</exception>
        public void Check()
        {
            using (this)
            {
                if (!IsInvalid)
                    throw ToException();
            }
        }

        private LatennException ToException() => new LatennException(
            (LatennCode)Native.StatusCode(this),
            Utf8.Read(Native.StatusMessage(this)),
            Utf8.Read(Native.StatusReport(this)));

        protected override bool ReleaseHandle()
        {
            Native.StatusRelease(handle);
            return true;
        }
    }

    /// <summary>A <c>latenn_model*</c>.</summary>
    internal sealed class ModelHandle : SafeHandleZeroOrMinusOneIsInvalid
    {
        public ModelHandle() : base(true)
        {
        }

        protected override bool ReleaseHandle()
        {
            Native.ModelRelease(handle);
            return true;
        }
    }

    /// <summary>A <c>latenn_value*</c>: one holder of it.</summary>
    internal sealed class ValueHandle : SafeHandleZeroOrMinusOneIsInvalid
    {
        public ValueHandle() : base(true)
        {
        }

        protected override bool ReleaseHandle()
        {
            Native.ValueRelease(handle);
            return true;
        }
    }

    /// <summary>A <c>latenn_context*</c>, which keeps the handle of its model open: Dispose while a run is under way takes effect after it.</summary>
    internal sealed class ContextHandle : SafeHandleZeroOrMinusOneIsInvalid
    {
        private ModelHandle? _model;

        public ContextHandle() : base(true)
        {
        }

        /// <summary>Makes a context of a model.</summary>
        /// <exception cref="LatennException">The backend cannot make one.</exception>
        /// <exception cref="ObjectDisposedException">The model was disposed.</exception>
        public static ContextHandle Create(ModelHandle model)
        {
            bool kept = false;
            try
            {
                model.DangerousAddRef(ref kept);
                Native.ContextCreate(model, out ContextHandle context).Check();
                context._model = model;
                kept = false;
                return context;
            }
            finally
            {
                if (kept)
                    model.DangerousRelease();
            }
        }

        protected override bool ReleaseHandle()
        {
            Native.ContextRelease(handle);
            _model?.DangerousRelease();
            return true;
        }
    }
}
