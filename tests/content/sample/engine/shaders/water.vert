#version 450
#include "include/math.glsl"
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;
layout(location = 0) out vec3 out_normal;
layout(location = 1) out vec2 out_uv;
layout(push_constant) uniform Push { mat4 transform; } push;
void main() {
  gl_Position = push.transform * vec4(position, 1.0);
  out_normal = normal;
  out_uv = uv + vec2(0.5);
}
