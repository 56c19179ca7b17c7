import { svg, svgNamespaceAttribute, xlinkNamespaceAttribute } from './pictures.ts'

const mark = '<rect x="4" y="4" width="32" height="32" fill="#7a1f3d"/>'
const w3cDoctype =
  '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
const box = 'viewBox="0 0 120 40"'

/**
 * Drawings as design tools export them, each as `[tool, file]`. All must be accepted, and drawn as
 * the browser draws the file itself.
 */
export const designToolPictures: [string, string][] = [
  [
    'Illustrator, presentation attributes',
    `<?xml version="1.0" encoding="utf-8"?>\n<!-- Generator: a tool -->\n${svg(mark, `version="1.1" id="Ebene_1" ${xlinkNamespaceAttribute} x="0px" y="0px" width="120px" height="40px" ${box} enable-background="new 0 0 120 40" xml:space="preserve"`)}`
  ],
  [
    'Illustrator, internal styles',
    svg(
      '<style type="text/css">\n\t.st0{fill:#7A1F3D;}\n\t.st1{fill:#F2B705;stroke:#000000;stroke-miterlimit:10;}\n\t.st2{font-family:\'Myriad-Bold\';}\n</style><rect class="st0" x="4" y="4" width="32" height="32"/><circle class="st1" cx="70" cy="20" r="14"/>',
      `${box} style="enable-background:new 0 0 120 40;" xml:space="preserve"`
    )
  ],
  [
    'Illustrator, export for screens',
    svg(
      '<defs><style>.cls-1,.cls-2{fill:url(#Dégradé_sans_nom_2);}.cls-2{opacity:.5;isolation:isolate;}</style><linearGradient id="Dégradé_sans_nom_2" x1="4" y1="20" x2="36" y2="20" gradientUnits="userSpaceOnUse"><stop offset="0" stop-color="#7a1f3d"/><stop offset="1" stop-color="#f2b705"/></linearGradient></defs><title>Marque</title><g id="Calque_2" data-name="Calque 2"><rect class="cls-1" x="4" y="4" width="32" height="32"/><rect class="cls-2" x="44" y="4" width="32" height="32"/></g>',
      `id="Calque_1" data-name="Calque 1" ${box}`
    )
  ],
  [
    'Illustrator, clipped by a used shape',
    svg(
      `<g><defs><rect id="SVGID_1_" x="4" y="4" width="32" height="32"/></defs><clipPath id="SVGID_2_"><use xlink:href="#SVGID_1_" style="overflow:visible;"/></clipPath><g style="clip-path:url(#SVGID_2_);"><circle cx="20" cy="20" r="20" style="fill:#7A1F3D;"/></g></g>`,
      `${xlinkNamespaceAttribute} ${box}`
    )
  ],
  [
    'Inkscape',
    `<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<svg width="60mm" height="20mm" viewBox="0 0 60 20" version="1.1" id="svg5" inkscape:version="1.2" sodipodi:docname="m.svg" ${svgNamespaceAttribute} ${xlinkNamespaceAttribute} xmlns:svg="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:cc="http://creativecommons.org/ns#"><sodipodi:namedview id="v" showgrid="false"><inkscape:grid type="xygrid" id="g1"/></sodipodi:namedview><defs id="defs2"><linearGradient id="base"><stop style="stop-color:#7a1f3d;stop-opacity:1" offset="0" id="s0"/></linearGradient><linearGradient inkscape:collect="always" xlink:href="#base" id="own" x1="2" x2="18" gradientUnits="userSpaceOnUse"/><inkscape:path-effect effect="spiro" id="pe"/></defs><metadata id="m"><rdf:RDF><cc:Work rdf:about="" /></rdf:RDF></metadata><g inkscape:label="Layer 1" inkscape:groupmode="layer" id="layer1" style="display:inline"><path sodipodi:nodetypes="ccccc" style="color:#000000;fill:url(#own);-inkscape-stroke:none;stroke-width:0.264583;font-variant-ligatures:normal;line-height:1.25;solid-color:#000000" d="M 2,2 H 18 V 18 H 2 Z" id="p" /></g></svg>`
  ],
  [
    'Affinity',
    `<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n${w3cDoctype}\n${svg('<g transform="matrix(1,0,0,1,-4,0)"><g id="Artboard1" serif:id="Artboard 1"><path d="M8,4L40,4L40,36L8,36Z" style="fill:rgb(122,31,61);fill-rule:nonzero;"/></g></g>', `width="100%" height="100%" ${box} version="1.1" xml:space="preserve" xmlns:serif="http://www.serif.com/" style="fill-rule:evenodd;clip-rule:evenodd;stroke-linejoin:round;stroke-miterlimit:2;"`)}`
  ],
  [
    'Figma',
    svg(
      '<g clip-path="url(#clip0_4_7)"><g filter="url(#filter0_d_4_7)"><mask id="mask0" style="mask-type:alpha" maskUnits="userSpaceOnUse" x="0" y="0" width="120" height="40"><rect width="120" height="40" fill="#D9D9D9"/></mask><g mask="url(#mask0)"><rect id="Frame 1" x="4" y="4" width="32" height="32" fill="var(--fill-0, #7A1F3D)"/></g></g></g><defs><filter id="filter0_d_4_7" x="0" y="4" width="40" height="40" filterUnits="userSpaceOnUse" color-interpolation-filters="sRGB"><feFlood flood-opacity="0" result="BackgroundImageFix"/><feColorMatrix in="SourceAlpha" type="matrix" values="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 127 0" result="hardAlpha"/><feOffset dy="4"/><feGaussianBlur stdDeviation="2"/><feComposite in2="hardAlpha" operator="out"/><feColorMatrix type="matrix" values="0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0.25 0"/><feBlend mode="normal" in2="BackgroundImageFix" result="effect1"/><feBlend mode="normal" in="SourceGraphic" in2="effect1" result="shape"/></filter><clipPath id="clip0_4_7"><rect width="120" height="40" fill="white"/></clipPath></defs>',
      `width="120" height="40" ${box} fill="none"`
    )
  ],
  [
    'Sketch',
    `<?xml version="1.0" encoding="UTF-8"?>\n${svg('<title>Mark</title><desc>Made with a tool.</desc><defs><rect id="path-1" x="4" y="4" width="32" height="32"></rect></defs><g id="Page-1" stroke="none" stroke-width="1" fill="none" fill-rule="evenodd" sketch:type="MSPage"><mask id="mask-2" fill="white"><use xlink:href="#path-1"></use></mask><use id="Mask" fill="#7A1F3D" xlink:href="#path-1"></use><circle fill="#F2B705" mask="url(#mask-2)" cx="20" cy="20" r="9"></circle></g>', `width="120px" height="40px" ${box} version="1.1" ${xlinkNamespaceAttribute} xmlns:sketch="http://www.bohemiancoding.com/sketch/ns"`)}`
  ],
  [
    'CorelDRAW',
    `<?xml version="1.0" encoding="UTF-8"?>\n${w3cDoctype}\n${svg('<defs><style type="text/css"><![CDATA[ .fil0 {fill:#7A1F3D} /* one */ .str0 {stroke:#2B2A29;stroke-width:0.2} ]]></style></defs><g id="Layer_x0020_1"><metadata id="CorelCorpID_0Corel-Layer"/><polygon class="fil0 str0" points="4,4 36,4 36,36 4,36"/></g>', `xml:space="preserve" width="12cm" height="4cm" version="1.1" style="shape-rendering:geometricPrecision; text-rendering:geometricPrecision; image-rendering:optimizeQuality; fill-rule:evenodd; clip-rule:evenodd" ${box} xmlns:xodm="http://www.corel.com/coreldraw/odm/2003"`)}`
  ],
  [
    'LibreOffice',
    `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE svg>\n${svg(`<defs class="ClipPathGroup"><clipPath id="presentation_clip_path" clipPathUnits="userSpaceOnUse"><rect x="0" y="0" width="120" height="40"/></clipPath></defs><defs class="TextShapeIndex"><g ooo:slide="id1" ooo:id-list="id3"/></defs><g id="page1" class="Slide" clip-path="url(#presentation_clip_path)"><g class="com.sun.star.drawing.CustomShape"><rect class="BoundingBox" stroke="none" fill="none" x="3" y="3" width="34" height="34"/>${mark}</g></g>`, `version="1.2" ${box} preserveAspectRatio="xMidYMid" fill-rule="evenodd" xmlns:ooo="http://xml.openoffice.org/svg/export" xml:space="preserve"`)}`
  ],
  [
    'Batik',
    svg(
      mark,
      `${box} baseProfile="full" contentScriptType="text/ecmascript" zoomAndPan="magnify" contentStyleType="text/css" externalResourcesRequired="false"`
    )
  ],
  [
    'iconfont',
    svg(`<path d="M4 4h32v32H4z" p-id="4" fill="#7a1f3d"/>`, `t="1" class="icon" p-id="3" ${box}`)
  ],
  [
    'with a prefix',
    `<s:svg xmlns:s="http://www.w3.org/2000/svg" ${box}><s:rect x="4" y="4" width="32" height="32" fill="#7a1f3d"/></s:svg>`
  ],
  ['with a byte order mark', `\uFEFF${svg(mark, box)}`],
  ['in another encoding', `<?xml version="1.0" encoding="windows-1252"?>${svg(mark, box)}`],
  [
    'without a viewBox',
    svg(
      '<rect x="40" y="40" width="320" height="320" fill="#7a1f3d"/>',
      'width="1200" height="400"'
    )
  ],
  [
    'in a wide gamut',
    svg(
      '<rect x="4" y="4" width="32" height="32" fill="#7A1F3D" style="fill:#7A1F3D;fill:color(display-p3 0.4784 0.1216 0.2392);fill-opacity:1;"/>',
      box
    )
  ],
  [
    'with selectors by hand',
    svg(
      '<style>svg g > .a, #b, rect.c { fill: #7a1f3d !important }\n* { stroke-width: 1 }</style><g><rect class="a c" x="4" y="4" width="32" height="32"/></g><circle id="b" r="4"/>',
      box
    )
  ]
]
