/** The part of `@echogarden/fvad-wasm` (libfvad, the voice activity detector of WebRTC) that we use. */
declare module '@echogarden/fvad-wasm' {
  export interface Fvad {
    readonly HEAP16: Int16Array;
    _malloc(bytes: number): number;
    /** 0 when there is no memory. */
    _fvad_new(): number;
    _fvad_free(detector: number): void;
    /** From 0 (takes much for speech) to 3; 0 when accepted. */
    _fvad_set_mode(detector: number, mode: number): number;
    _fvad_set_sample_rate(detector: number, rate: number): number;
    /** 1 for voice, 0 for none, -1 for a wrong length. */
    _fvad_process(detector: number, frame: number, length: number): number;
  }
  export default function load(): Promise<Fvad>;
}
