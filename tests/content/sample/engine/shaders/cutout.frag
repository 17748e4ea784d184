#version 450
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D albedo;
void main() {
  color = texture(albedo, uv);
  if (color.a < 0.5) discard;
#ifdef TINT
  color.rgb *= vec3(TINT);
#endif
}
