#version 450
layout(location = 1) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D albedo;
void main() { color = texture(albedo, uv) * vec4(0.5, 0.7, 1.0, 1.0); }
