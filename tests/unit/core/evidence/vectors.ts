import { sha256 } from '@noble/hashes/sha2.js'
import { toUtf8 } from '../../../../src/core/bytes.ts'

/** The published example of an evidence log. Every implementation must produce the same bytes. */
export const origin = 'verify.acme.example/log'
export const exampleRecordId = 'AAECAwQFBgcICQoLDA0ODw'
export const exampleFile = toUtf8('Vidimus example document\n')
export const fileDigest = 'sha256:cf4f22c3d3d660e8e33990f4d21c90a57ba246da3b355adf34edf61ace51fbb3'
export const linkKey = countingBytes(0x20)
export const lookupKey = countingBytes(0x40)

export const leaf =
  '{"c":{"actor":"NX5q2dQVleveJRXmb9CYFDeHzB_UgcYw4o8yWP1ETb8","bytes":"vt5xAPk_Df4FYP9TAG623xfhY53XkjpsGfq2Hetzgzg","category":"pYcZF3kHiMWUZOc8GWd88uaqSLM4S7nBEhFBdFco9_s","expires":"cWbTvv7pSdhIXvDOGmfBrjaAzxyJOpBFlBj5pJcEu6E","media":"7VJTK8zNzLMUf8ajkLP01MKqkUyCV1_Wja5QXmVTzyk","name":"vWvdOTVRVo2cZEj5qIrloWNZLHcxhSt9RwGa7C1Zpk8","orig":"QLX_HEIQw8MSYBR70qhVoqp4PjztjWlm2vzhOpKNQi0","sig":"Bco4_aZPLEfuhGhq3D6xmaByJn7Uvmai8NOptLLg0b8","stored":"8t8ntMXER3qS-hg1jce4_DR6MzFxCMf-0T7LuO-PMng","time":"v1rINTccaIg7uIVdu0KA1R_mQdG4lR12gc4HZXLV4k0","transform":"3fBFuYVMPazSggfykJ39_TXzSa42Jy5XZSKuO_7r1DM","visibility":"yKv2Dxr66sBQuXMnJwg7BvjVUn-vc0u122eI_blIJGw"},"id":"AAECAwQFBgcICQoLDA0ODw","type":"deposit","v":1}'
// at size 3, with `{}` as the last leaf
export const receipt =
  '{"format":"vidimus/receipt@v1","keys":[{"leaf":"{\\"answers\\":\\"verify.acme.example/log/answers+f48cd5ba+AYE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU\\",\\"id\\":\\"EBESExQVFhcYGRobHB0eHw\\",\\"log\\":\\"verify.acme.example/log+39facba6+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c\\",\\"origin\\":\\"verify.acme.example/log\\",\\"platform\\":\\"vidimus.example/platform-log+3a3990df+Ae1JKMYo0cLG6ukDOJBZlWEpWSc6XGP5NjbBRhSshzfR\\",\\"type\\":\\"policy\\",\\"v\\":1}","proof":"c2sp.org/tlog-proof@v1\\nindex 0\\n\\nverify.acme.example/log\\n1\\ndBpcxdl+jvv3LRthCv4GXu5jbwY2YILS07sMaXErjeQ=\\n\\n— verify.acme.example/log OfrLpgAl4oFACTYwh8RiA5tuLOjiSTV9jUrjuhkRUFn+CFda+kHDZwNV7TpdaqoYUzk09rZZTNrmFfmqw6wP2GoHAQ0=\\n"}],"leaf":"{\\"c\\":{\\"actor\\":\\"NX5q2dQVleveJRXmb9CYFDeHzB_UgcYw4o8yWP1ETb8\\",\\"bytes\\":\\"vt5xAPk_Df4FYP9TAG623xfhY53XkjpsGfq2Hetzgzg\\",\\"category\\":\\"pYcZF3kHiMWUZOc8GWd88uaqSLM4S7nBEhFBdFco9_s\\",\\"expires\\":\\"cWbTvv7pSdhIXvDOGmfBrjaAzxyJOpBFlBj5pJcEu6E\\",\\"media\\":\\"7VJTK8zNzLMUf8ajkLP01MKqkUyCV1_Wja5QXmVTzyk\\",\\"name\\":\\"vWvdOTVRVo2cZEj5qIrloWNZLHcxhSt9RwGa7C1Zpk8\\",\\"orig\\":\\"QLX_HEIQw8MSYBR70qhVoqp4PjztjWlm2vzhOpKNQi0\\",\\"sig\\":\\"Bco4_aZPLEfuhGhq3D6xmaByJn7Uvmai8NOptLLg0b8\\",\\"stored\\":\\"8t8ntMXER3qS-hg1jce4_DR6MzFxCMf-0T7LuO-PMng\\",\\"time\\":\\"v1rINTccaIg7uIVdu0KA1R_mQdG4lR12gc4HZXLV4k0\\",\\"transform\\":\\"3fBFuYVMPazSggfykJ39_TXzSa42Jy5XZSKuO_7r1DM\\",\\"visibility\\":\\"yKv2Dxr66sBQuXMnJwg7BvjVUn-vc0u122eI_blIJGw\\"},\\"id\\":\\"AAECAwQFBgcICQoLDA0ODw\\",\\"type\\":\\"deposit\\",\\"v\\":1}","log":{"name":"ACME","origin":"verify.acme.example/log","vkey":"verify.acme.example/log+39facba6+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"},"open":{"expires":{"salt":"GbWOUqnpje-qZbPLEkNQ1lvCzOigpj8J4xsLtE4zFRE","value":""},"orig":{"salt":"wDoaRb7OJxxrQPg7r2oOUzLCMFjeaixtaa23TiIVvZM","value":"sha256:cf4f22c3d3d660e8e33990f4d21c90a57ba246da3b355adf34edf61ace51fbb3"}},"proof":"c2sp.org/tlog-proof@v1\\nindex 1\\ndBpcxdl+jvv3LRthCv4GXu5jbwY2YILS07sMaXErjeQ=\\nKKOhj2zWQGsIbp/9ofm4oT289EsPPzLLkDGhH9BTrPk=\\n\\nverify.acme.example/log\\n3\\nA0qfIPjCbSiByqeES53BZmQIc6sBKJcb/8jo6brAmH8=\\n\\n— verify.acme.example/log OfrLpmc9jWY2XIyaDecr16ujZDPT1v4vcevtamds2sXjVqeT1dvml+/q12mtFry5miYynMO4FBh/Gwnmn/mFbOKiYAA=\\n","timestamps":[]}'
export const leafHashText = 'dRisIrdFQugk68KH5YrYSmCpadjgOizPQ0jevcf8VSY='

/**
 * The values to which the leaf of the example commits. `actor` is missing, because it was not
 * published.
 */
export const exampleValues = {
  bytes: '25',
  category: 'Contracts',
  expires: '',
  media: 'text/plain',
  name: 'example.txt',
  orig: fileDigest,
  sig: '',
  stored: fileDigest,
  time: '2026-11-20T09:28:15Z',
  transform: '',
  visibility: 'public'
}

export function exampleSalt(name: string): Uint8Array {
  return sha256(toUtf8(`vidimus/v1/example-salt/${name}`))
}

/** Returns 32 bytes that count up from `first`. */
export function countingBytes(first: number): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => first + i)
}
