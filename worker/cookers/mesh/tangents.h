// Tangents for normal maps, written after the published description of MikkTSpace (M. Mikkelsen,
// "Simulation of Wrinkled Surfaces Revisited", 2008, and http://www.mikktspace.com). A triangle's
// tangent is the direction in which u grows. Each corner projects the tangent onto the plane of its
// normal and weighs it by its angle in that plane. Corners of equal position, normal and texture
// coordinate whose triangles agree in handedness share the sum. A vertex of both handednesses is
// split. Unlike in MikkTSpace, corners that share a sum need no common edge, so that two fans that
// touch only in a point are averaged, too.
//
// glTF's v runs downwards and its bitangent, cross(normal, tangent) * w, upwards: so w is 1 where a
// texture is not mirrored, which is MikkTSpace's sign negated.
//
// Only + - * / and square roots are used (arc cosine by polynomial), so that every machine makes
// the same bytes.
#pragma once

#include "worker/cookers/mesh/primitive.h"

namespace galley::worker::mesh {

// Gives each corner a vertex of its own and the normal of its triangle, as the specification asks
// where there is no NORMAL. Takes out attributes that depend on a normal (TANGENT, NORMAL of
// targets).
// Memory: FlatNormalBytes. REQUIRES: triangles, POSITION.
void GenerateFlatNormals(Primitive& primitive);
// The bytes that the vertices will take after GenerateFlatNormals: many times more than before
// where corners share vertices.
uint64_t FlatNormalBytes(const Primitive& primitive);

// Adds TANGENT. False, with nothing done: there is no TEXCOORD_<texcoord>. REQUIRES: triangles,
// POSITION, NORMAL, no TANGENT.
bool GenerateTangents(Primitive& primitive, uint64_t texcoord);

// The angle of two vectors by its cosine, in radians; off by at most 2e-8.
// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 4.4.46.
double ArcCosine(double cosine);

}  // namespace galley::worker::mesh
