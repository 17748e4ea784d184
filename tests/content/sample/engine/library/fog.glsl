#ifndef FOG_GLSL
#define FOG_GLSL
vec3 fog(vec3 color, float depth) { return mix(vec3(0.6, 0.7, 0.8), color, exp(-depth * FOG_DENSITY)); }
#endif
