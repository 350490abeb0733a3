import latenn from './index.cjs';

export const { load, version, Model, LatennError, elementTypes } = latenn;
