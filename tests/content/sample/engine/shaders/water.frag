#version 450
#include "include/lighting.glsl"
#include "fog.glsl"
layout(location = 0) in vec3 normal;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D albedo;
void main() {
  vec3 base = texture(albedo, uv).rgb;
  vec3 lit = shade(base, normal, vec3(0.3, 0.8, 0.5));
  color = vec4(fog(lit * vec3(0.5, 0.7, 1.0), gl_FragCoord.z), 1.0);
}
