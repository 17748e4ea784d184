// Shader samples: shaders that use many features, for the tests of targets and for the goldens.
#pragma once

namespace galley::worker {

inline constexpr const char* kSampleVertex = R"(#version 450
struct Light { vec3 position; float range; };
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec3 normal;
layout(location = 1) out Surface { vec2 uv; mat2 turn; float fade; } surface;
layout(set = 0, binding = 0, row_major) uniform Frame { mat4 view; Light lights[3]; } frame;
layout(set = 1, binding = 0) uniform Object { mat4x3 world; };
layout(std430, set = 0, binding = 3) readonly buffer Instances { uint first; vec4 offsets[]; } instances;
layout(push_constant) uniform Push { layout(offset = 16) vec4 tint; } push;
void main() {
  surface.uv = uv;
  surface.turn = mat2(push.tint);
  surface.fade = frame.lights[1].range;
  normal = world * vec4(position, float(gl_VertexIndex));
  gl_Position = frame.view * vec4(position, 1.0) + instances.offsets[gl_InstanceIndex];
}
)";

inline constexpr const char* kSampleFragment = R"(#version 450
layout(location = 0) in vec3 normal;
layout(location = 1) in Surface { vec2 uv; mat2 turn; float fade; } s;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform texture2D albedo;
layout(set = 0, binding = 1) uniform sampler linear;
layout(set = 0, binding = 2) uniform sampler nearest;
layout(set = 1, binding = 0) uniform sampler2DShadow shadow;
layout(set = 1, binding = 1) uniform sampler2DArray never[2];
layout(constant_id = 7) const float kScale = 1.5;
layout(constant_id = 2) const bool kFlag = true;
layout(push_constant) uniform Push { vec4 tint; };
void main() {
  color = texture(sampler2D(albedo, linear), s.uv * s.turn) * tint * kScale;
  if (kFlag) color += texture(sampler2D(albedo, nearest), s.uv);
  color.a *= texture(shadow, vec3(s.uv, s.fade)) + normal.x;
}
)";

inline constexpr const char* kSampleCompute = R"(#version 450
layout(local_size_x = 8, local_size_y_id = 4) in;
layout(set = 0, binding = 0, r32ui) uniform readonly highp uimage2D counts;
layout(set = 0, binding = 1, rgba8) uniform writeonly highp image2D target;
layout(std430, set = 0, binding = 2) buffer Sums { uint total; } sums;
void main() {
  uint count = imageLoad(counts, ivec2(gl_GlobalInvocationID.xy)).x;
  atomicAdd(sums.total, count);
  imageStore(target, ivec2(gl_GlobalInvocationID.xy), vec4(float(count)));
}
)";

inline constexpr const char* kSampleGeometry = R"(#version 450
layout(points) in;
layout(points, max_vertices = 1) out;
layout(location = 0) in vec3 normal[];
layout(location = 0) out vec3 turned;
void main() {
  turned = -normal[0];
  gl_Position = gl_in[0].gl_Position;
  EmitVertex();
}
)";

}  // namespace galley::worker
