// Shared lighting: every lit shader reads this.
#ifndef LIGHTING_GLSL
#define LIGHTING_GLSL
#include "math.glsl"
vec3 shade(vec3 albedo, vec3 normal, vec3 light) {
  float lambert = saturate(dot(normalize(normal), normalize(light)));
  return albedo * (0.1 + 0.9 * lambert);
}
#endif
